// SIMD vectors of SURTREE_LANES doubles, or of twice as many floats or whole numbers.
//
// Like all of this folder and of objective/, it is compiled once per instruction set. Hence no standard
// library here: the linker could keep an inline function of it that was compiled for newer processors.
#pragma once

#include "portable.hpp"

#if defined(SURTREE_GNU) && !defined(SURTREE_PLAIN_VECTORS)
#define SURTREE_VECTOR_EXTENSIONS
#else
#include <math.h>

#include "kernel/plain_lanes.hpp"
#endif
#if SURTREE_LANES >= 4  // with instructions by name
#include <immintrin.h>
#endif

namespace surtree::SURTREE_ISA {

constexpr int lanes = SURTREE_LANES;

#ifdef SURTREE_VECTOR_EXTENSIONS

typedef double Vector __attribute__((vector_size(lanes * 8)));
typedef long long Bits __attribute__((vector_size(lanes * 8)));
typedef unsigned long long UnsignedBits __attribute__((vector_size(lanes * 8)));
typedef double Pair __attribute__((vector_size(16)));

// The same, anywhere in memory.
typedef double Unaligned __attribute__((vector_size(lanes * 8), aligned(8), may_alias));
typedef double UnalignedPair __attribute__((vector_size(16), aligned(8), may_alias));

// Floats are for screening alone, which other compilers do without.
constexpr int short_lanes = 2 * lanes;

typedef float Floats __attribute__((vector_size(lanes * 8)));
typedef int Ints __attribute__((vector_size(lanes * 8)));
typedef float UnalignedFloats __attribute__((vector_size(lanes * 8), aligned(4), may_alias));
typedef int UnalignedInts __attribute__((vector_size(lanes * 8), aligned(4), may_alias));

inline Vector load(const double* from) { return *reinterpret_cast<const Unaligned*>(from); }
inline void store(double* to, Vector value) { *reinterpret_cast<Unaligned*>(to) = value; }
inline Pair load_pair(const double* from) { return *reinterpret_cast<const UnalignedPair*>(from); }
inline void store_pair(double* to, Pair value) { *reinterpret_cast<UnalignedPair*>(to) = value; }
inline Floats load(const float* from) { return *reinterpret_cast<const UnalignedFloats*>(from); }
inline void store(float* to, Floats value) { *reinterpret_cast<UnalignedFloats*>(to) = value; }
inline Ints load(const int* from) { return *reinterpret_cast<const UnalignedInts*>(from); }
inline void store(int* to, Ints value) { *reinterpret_cast<UnalignedInts*>(to) = value; }

// Adds N doubles to others.
template <int N>
SURTREE_INLINE void add_to(double* to, const double* from) {
    typedef double Sums __attribute__((vector_size(N * 8), aligned(8), may_alias));
    *reinterpret_cast<Sums*>(to) += *reinterpret_cast<const Sums*>(from);
}

inline Vector broadcast(double value) { return value - Vector{}; }
inline Floats broadcast(float value) { return value - Floats{}; }
inline Ints broadcast(int value) { return value - Ints{}; }
inline Floats larger(Floats a, Floats b) { return a > b ? a : b; }
inline float larger(float a, float b) { return a > b ? a : b; }

// In each lane `yes` where a comparison holds, else `no`.
#define SURTREE_SELECT(holds, yes, no) ((holds) ? (yes) : (no))

// The same bits as another type.
template <class To, class From>
SURTREE_INLINE To bits_as(From value) {
    return reinterpret_cast<To>(value);
}

// The lanes of two vectors, counted through, that are given.
#define SURTREE_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

SURTREE_INLINE double logarithm(double x) { return __builtin_log(x); }

#else

using Vector = Lanes<double, lanes>;
using Bits = Lanes<long long, lanes>;
using UnsignedBits = Lanes<unsigned long long, lanes>;
using Pair = Lanes<double, 2>;

template <int N>
inline Lanes<double, N> load_lanes(const double* from) {
    Lanes<double, N> out;
    for (int l = 0; l < N; ++l) out[l] = from[l];
    return out;
}
template <int N>
inline void store_lanes(double* to, Lanes<double, N> value) {
    for (int l = 0; l < N; ++l) to[l] = value[l];
}

inline Vector load(const double* from) { return load_lanes<lanes>(from); }
inline void store(double* to, Vector value) { store_lanes(to, value); }
inline Pair load_pair(const double* from) { return load_lanes<2>(from); }
inline void store_pair(double* to, Pair value) { store_lanes(to, value); }

template <int N>
inline void add_to(double* to, const double* from) {
    for (int l = 0; l < N; ++l) to[l] += from[l];
}

inline Vector broadcast(double value) { return Vector::all(value); }

inline Vector selected(Lanes<bool, lanes> holds, Vector yes, Vector no) {
    for (int l = 0; l < lanes; ++l) yes[l] = holds[l] ? yes[l] : no[l];
    return yes;
}
#define SURTREE_SELECT(holds, yes, no) selected(holds, yes, no)

template <class To, class From>
inline To bits_as(From value) {
    return __builtin_bit_cast(To, value);
}

template <int... Lane>
inline Vector shuffled(Vector a, Vector b) {
    return {(Lane < lanes ? a[Lane % lanes] : b[Lane % lanes])...};
}
#define SURTREE_SHUFFLE(a, b, ...) shuffled<__VA_ARGS__>(a, b)

inline double logarithm(double x) { return ::log(x); }

#endif

inline Vector larger(Vector a, Vector b) { return SURTREE_SELECT(a > b, a, b); }
inline double larger(double a, double b) { return a > b ? a : b; }

inline double largest(Vector v) {
#if SURTREE_LANES == 8
    return _mm512_reduce_max_pd(v);
#else
    double best = v[0];
    for (int l = 1; l < lanes; ++l) best = larger(best, v[l]);
    return best;
#endif
}

// a / b. Where division is slow and wide: an estimate of 14 bits, refined twice to all but the last bit.
inline Vector quotient(Vector a, Vector b) {
#if SURTREE_LANES == 8
    Vector inverse = _mm512_rcp14_pd(b);
    inverse = inverse * (2.0 - b * inverse);
    inverse = inverse * (2.0 - b * inverse);
    return a * inverse;
#else
    return a / b;
#endif
}

// The value as it is stored. Compilers may join a product and a sum that it is added to into one instruction,
// with one rounding, where the product is not stored: this keeps them apart, so that kernels agree to the
// last bit.
inline Vector rounded(Vector value) {
#ifndef SURTREE_VECTOR_EXTENSIONS
    // Other compilers join nothing.
#elif SURTREE_LANES == 8
    asm("" : "+v"(value));
#elif defined(__x86_64__)
    asm("" : "+x"(value));
#elif defined(__aarch64__)
    asm("" : "+w"(value));
#endif
    return value;
}

#ifdef SURTREE_VECTOR_EXTENSIONS
// 1 / a within a factor of 1 +- 2^-11.
inline Floats rough_inverse(Floats a) {
#if SURTREE_LANES == 8
    return _mm512_rcp14_ps(a);
#elif SURTREE_LANES == 4
    return _mm256_rcp_ps(a);
#else
    return 1.0f / a;
#endif
}
#endif

}  // namespace surtree::SURTREE_ISA
