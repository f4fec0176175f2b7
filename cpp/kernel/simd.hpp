// SIMD vectors of SURTREE_LANES doubles, or of twice as many floats or whole numbers.
//
// Like all of this folder and of objective/, it is compiled once per instruction set. Hence no standard
// library here: the linker could keep an inline function of it that was compiled for newer processors.
#pragma once

#if SURTREE_LANES >= 4
#include <immintrin.h>
#endif

namespace surtree::SURTREE_ISA {

constexpr int lanes = SURTREE_LANES;

typedef double Vector __attribute__((vector_size(lanes * 8)));
typedef long long Bits __attribute__((vector_size(lanes * 8)));
// The same, anywhere in memory.
typedef double Unaligned __attribute__((vector_size(lanes * 8), aligned(8), may_alias));

constexpr int short_lanes = 2 * lanes;

typedef float Floats __attribute__((vector_size(lanes * 8)));
typedef int Ints __attribute__((vector_size(lanes * 8)));
typedef float UnalignedFloats __attribute__((vector_size(lanes * 8), aligned(4), may_alias));
typedef int UnalignedInts __attribute__((vector_size(lanes * 8), aligned(4), may_alias));

inline Vector load(const double* from) { return *reinterpret_cast<const Unaligned*>(from); }
inline void store(double* to, Vector value) { *reinterpret_cast<Unaligned*>(to) = value; }
inline Floats load(const float* from) { return *reinterpret_cast<const UnalignedFloats*>(from); }
inline void store(float* to, Floats value) { *reinterpret_cast<UnalignedFloats*>(to) = value; }
inline Ints load(const int* from) { return *reinterpret_cast<const UnalignedInts*>(from); }
inline void store(int* to, Ints value) { *reinterpret_cast<UnalignedInts*>(to) = value; }
inline Vector broadcast(double value) { return value - Vector{}; }
inline Floats broadcast(float value) { return value - Floats{}; }
inline Ints broadcast(int value) { return value - Ints{}; }
inline Vector larger(Vector a, Vector b) { return a > b ? a : b; }
inline Floats larger(Floats a, Floats b) { return a > b ? a : b; }
inline float larger(float a, float b) { return a > b ? a : b; }
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
#if SURTREE_LANES == 8
    asm("" : "+v"(value));
#elif defined(__x86_64__)
    asm("" : "+x"(value));
#elif defined(__aarch64__)
    asm("" : "+w"(value));
#endif
    return value;
}

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

}  // namespace surtree::SURTREE_ISA
