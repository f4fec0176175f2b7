// g(E, H) = E * log(E / H): the only home of the loss in C++, on SURTREE_LANES numbers at a time.
//
// Like all of this folder it is compiled once per instruction set; hence no standard library here: an
// inline function of it, compiled for new processors, could be the one that the linker keeps for all.
#pragma once

#if SURTREE_LANES == 8
#include <immintrin.h>
#endif

namespace surtree::SURTREE_ISA {

constexpr int lanes = SURTREE_LANES;

typedef double Vector __attribute__((vector_size(lanes * 8)));
typedef long long Bits __attribute__((vector_size(lanes * 8)));
// The same, anywhere in memory.
typedef double Unaligned __attribute__((vector_size(lanes * 8), aligned(8), may_alias));

inline Vector load(const double* from) { return *reinterpret_cast<const Unaligned*>(from); }
inline void store(double* to, Vector value) { *reinterpret_cast<Unaligned*>(to) = value; }
inline Vector broadcast(double value) { return value - Vector{}; }
inline Vector larger(Vector a, Vector b) { return a > b ? a : b; }
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

// What a leaf that breaks a limit is worth. Finite, so that sums of a few of them stay finite.
constexpr double infeasible = -1e300;

// E and H are whole numbers below 2^52, and H > 0 wherever E > 0. With k the rounded difference of
// the two logarithms to base two, as read off the bits, and h = H * 2^k, the ratio E / h lies in
// [2/3, 3/2], s = (E - h) / (E + h) in [-1/5, 1/5], and log(E / H) = k log 2 + 2 atanh(s). Of all
// polynomials of degree seven in s^2, this one is the closest to 2 atanh(s) / s there: within 6e-17.
// One division, no branch, no table; E = 0 gives 0.
inline Vector gain(Vector events, Vector hazard) {
    constexpr long long exponent_one = 1LL << 52;
    const Vector one = broadcast(1.0);
    const Vector e = larger(events, one);
    const Bits e_bits = reinterpret_cast<Bits>(e);
    const Bits h_bits = reinterpret_cast<Bits>(larger(hazard, one));
#if SURTREE_LANES == 8
    const Bits k_bits = (e_bits - h_bits + exponent_one / 2) >> 52;
    const Vector k = __builtin_convertvector(k_bits, Vector);
#else
    // Without instructions to shift and to convert negative numbers: 2^52 + k as a double has k in its
    // last bits.
    typedef unsigned long long Unsigned __attribute__((vector_size(lanes * 8)));
    constexpr long long bias = 1024;
    const Unsigned k_biased =
        reinterpret_cast<Unsigned>(e_bits - h_bits + (bias * exponent_one + exponent_one / 2)) >> 52;
    const Vector k = reinterpret_cast<Vector>(k_biased | 0x4330000000000000ULL) - (0x1p52 + 1024.0);
    const Bits k_bits = reinterpret_cast<Bits>(k_biased) - bias;
#endif
    const Vector h = reinterpret_cast<Vector>(h_bits + (k_bits << 52));
    const Vector s = quotient(e - h, e + h);
    const Vector z = s * s;
    Vector series = broadcast(0x1.3b2d78facd61ep-3);
    series = series * z + 0x1.38422f7f70c98p-3;
    series = series * z + 0x1.7475e18e94fc0p-3;
    series = series * z + 0x1.c71bf9a6a1297p-3;
    series = series * z + 0x1.249249c2336f5p-2;
    series = series * z + 0x1.99999998cebc4p-2;
    series = series * z + 0x1.5555555555870p-1;
    series = series * z + 2.0;
    return events * (k * 0x1.62e42fefa39efp-1 + s * series);
}

}  // namespace surtree::SURTREE_ISA
