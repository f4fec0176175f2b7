// Vectors as arrays, for compilers without vector extensions: what simd.hpp needs of them, loop by loop.
#pragma once

namespace surtree::SURTREE_ISA {

template <class T, int N>
struct Lanes {
    T lane[N];

    T& operator[](int l) { return lane[l]; }
    const T& operator[](int l) const { return lane[l]; }

    static Lanes all(T value) {
        Lanes out;
        for (int l = 0; l < N; ++l) out.lane[l] = value;
        return out;
    }
};

// Each operator of two vectors, and of a vector and a number on either side.
#define SURTREE_LANEWISE(op, Result)                                    \
    template <class T, int N>                                           \
    inline Lanes<Result, N> operator op(Lanes<T, N> a, Lanes<T, N> b) { \
        Lanes<Result, N> out;                                           \
        for (int l = 0; l < N; ++l) out[l] = a[l] op b[l];              \
        return out;                                                     \
    }                                                                   \
    template <class T, int N>                                           \
    inline Lanes<Result, N> operator op(Lanes<T, N> a, Number<T> b) {   \
        return a op Lanes<T, N>::all(b);                                \
    }                                                                   \
    template <class T, int N>                                           \
    inline Lanes<Result, N> operator op(Number<T> a, Lanes<T, N> b) {   \
        return Lanes<T, N>::all(a) op b;                                \
    }

// A number is converted to the type of the lanes, which the vector alone decides.
template <class T>
struct SameType {
    using type = T;
};
template <class T>
using Number = typename SameType<T>::type;

SURTREE_LANEWISE(+, T)
SURTREE_LANEWISE(-, T)
SURTREE_LANEWISE(*, T)
SURTREE_LANEWISE(/, T)
SURTREE_LANEWISE(|, T)
SURTREE_LANEWISE(<<, T)
SURTREE_LANEWISE(>>, T)
SURTREE_LANEWISE(>, bool)
SURTREE_LANEWISE(>=, bool)
#undef SURTREE_LANEWISE

template <class T, int N>
inline Lanes<T, N>& operator+=(Lanes<T, N>& a, Lanes<T, N> b) {
    return a = a + b;
}
template <class T, int N>
inline Lanes<T, N>& operator-=(Lanes<T, N>& a, Lanes<T, N> b) {
    return a = a - b;
}

}  // namespace surtree::SURTREE_ISA
