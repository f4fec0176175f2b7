// SIMD vectors of SURTREE_LANES doubles.
//
// Like all of this folder and of objective/, it is compiled once per instruction set. Hence no standard
// library here: the linker could keep an inline function of it that was compiled for newer processors.
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

}  // namespace surtree::SURTREE_ISA
