// The gain of a relative risk in single precision, with a bound on its error: to tell most trees from the
// best one at a quarter of the cost.
//
// E and H are whole numbers below 2^31; e = E + a and h = H + a, with a prior of zero, or from one to 2^40;
// and H > 0 wherever E > 0. The gain is in bits, e log2(e / h), and so are all errors below.
//
// With r close to 1 / h, log2(e / h) = log2(e r) - log2(h r), of which the latter is (h r - 1) log2(e) but
// for a square of at most 2^-22. The bits of e r, less those of one, are a whole number k + (m - 1) in units
// of 2^-23, with e r = 2^k m; and q(m) = log2(m) - (m - 1) is a polynomial of degree five, the closest one.
//
// Errors, as multiples of e, where |log2(e / h)| < 33:
//     q: 1.26e-5, its coefficients 0.14e-5, its roundings 0.35e-5                       1.75e-5
//     k + (m - 1), less than 2^29 units: half of 2^5 units                              0.20e-5
//     the sum of the three parts, less than 64, rounded twice: 2 * 2^-19                0.39e-5
//     the square; the roundings of e r and h r; those of e and h in the logarithm       0.07e-5
//     roundings of the product, and of e as a factor (twice): 3 * 33 * 2^-24            0.59e-5
//     the sum of the gains of two leaves: 33 * 2^-24                                    0.20e-5
// in all less than `error`. Without a prior, 2^-30 stands for zero, so that there is no logarithm of zero: a
// leaf without events then has a gain of -2^-24 at the least.
#pragma once

#include "kernel/simd.hpp"

#ifdef SURTREE_VECTOR_EXTENSIONS
namespace surtree::SURTREE_ISA {

struct RoughGain {
    static constexpr double error = 0x1p-15 * 1.25;

    Floats prior;

    explicit RoughGain(double a) : prior(broadcast(a > 0 ? static_cast<float>(a) : 0x1p-30f)) {}

    Floats operator()(Ints events, Ints hazard) const {
        constexpr int one = 127 << 23;
        const Floats e = __builtin_convertvector(events, Floats) + prior;
        const Floats h = __builtin_convertvector(hazard, Floats) + prior;
        const Floats r = rough_inverse(h);
        const Ints bits = reinterpret_cast<Ints>(e * r);
        const Floats m = reinterpret_cast<Floats>((bits & ((1 << 23) - 1)) | one);
        Floats q = broadcast(0x1.6f9ac8p-5f);
        q = q * m - 0x1.aa8facp-2f;
        q = q * m + 0x1.a192f8p+0f;
        q = q * m - 0x1.c68062p+1f;
        q = q * m + 0x1.05de98p+2f;
        q = q * m - 0x1.cce4a8p+0f;
        const Floats log_x = __builtin_convertvector(bits - one, Floats) * 0x1p-23f + q;
        return e * (log_x - (h * r - 1.0f) * 0x1.715476p+0f);
    }
};

}  // namespace surtree::SURTREE_ISA
#endif
