// The objective of the paper: leaf hazards proportional to a baseline. A leaf with E events and H expected
// events (the sum of cumulative baseline hazards) gains E log(E / H), at the relative risk theta = E / H.
//
// Shrinkage adds to each leaf a prior worth `a` events at the average risk: theta = (E + a) / (H + a), and
// the gain is (E + a) log((E + a) / (H + a)). That is the likelihood less a (theta - 1 - log theta) >= 0, so
// all properties hold, with the saturated gain of the likelihood alone. But a split may lower the gain.
#pragma once

#include "kernel/simd.hpp"
#include "screening/rough_gain.hpp"

namespace surtree::SURTREE_ISA {

struct RelativeRisk {
    static constexpr const char* name = "relative_risk";
    static constexpr int n_sums = 2;  // events, hazard
    static constexpr int n_channels = 1;
    static constexpr int n_parameters = 1;  // shrinkage
    static constexpr int exposure = 1;
    static constexpr bool is_convex = true;
    static constexpr bool is_monotone = true;
    static constexpr bool is_nonnegative = true;

#ifdef SURTREE_VECTOR_EXTENSIONS
    using Rough = RoughGain;
#endif

    Vector prior;

    explicit RelativeRisk(const double* parameters) : prior(broadcast(parameters[0])) {}

    Vector gain(const Vector (&sums)[n_sums]) const { return channel_gain(0, sums[0], sums[1]); }
    Vector channel_gain(int /*channel*/, Vector events, Vector hazard) const {
        return gain(events + prior, hazard + prior);
    }
    Vector saturated(const Vector (&sums)[n_sums]) const { return gain(sums[0], sums[1]); }

    static double scale(const double* totals) { return totals[0]; }

    static double saturated_exactly(const double* row) {
        return row[0] > row[1] ? row[0] * logarithm(row[0] / row[1]) : 0;
    }

    // E and H are zero or from one to 2^53, and H > 0 wherever E > 0. With k the rounded difference of
    // the two logarithms to base two, as read off the bits, and h = H * 2^k, the ratio E / h lies in
    // [2/3, 3/2], s = (E - h) / (E + h) in [-1/5, 1/5], and log(E / H) = k log 2 + 2 atanh(s). Of all
    // polynomials of degree seven in s^2, this one is the closest to 2 atanh(s) / s there: within 6e-17.
    // One division, no branch, no table; E = 0 gives 0.
    static Vector gain(Vector events, Vector hazard) {
        return gain(events, hazard, [](Vector e, Vector h, Vector /*k*/) { return e - h; });
    }

    // The same, where E - h is known better than E and h are.
    template <class Difference>
    static Vector gain(Vector events, Vector hazard, const Difference& difference) {
        constexpr long long exponent_one = 1LL << 52;
        const Vector one = broadcast(1.0);
        const Vector e = larger(events, one);
        const Bits e_bits = bits_as<Bits>(e);
        const Bits h_bits = bits_as<Bits>(larger(hazard, one));
#if SURTREE_LANES == 8
        const Bits k_bits = (e_bits - h_bits + exponent_one / 2) >> 52;
        const Vector k = __builtin_convertvector(k_bits, Vector);
#else
        // Without instructions to shift and to convert negative numbers: 2^52 + k as a double has k in its
        // last bits.
        constexpr long long bias = 1024;
        const UnsignedBits k_biased =
            bits_as<UnsignedBits>(e_bits - h_bits + (bias * exponent_one + exponent_one / 2)) >> 52;
        const Vector k = bits_as<Vector>(k_biased | 0x4330000000000000ULL) - (0x1p52 + 1024.0);
        const Bits k_bits = bits_as<Bits>(k_biased) - bias;
#endif
        const Vector h = bits_as<Vector>(h_bits + (k_bits << 52));
        const Vector s = quotient(difference(e, h, k), e + h);
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
};

}  // namespace surtree::SURTREE_ISA
