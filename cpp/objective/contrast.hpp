// The contrast between the channels of a leaf alone: the gain of a relative risk for each channel
// less that of one relative risk for all of them together,
//
//     sum over channels of E_j log(E_j / H_j)  -  E log(E / H),   E = sum of E_j,  H = sum of H_j.
//
// With the arms of a trial as channels that is the gain of a treatment effect. It is never negative, and zero
// where all channels have the same relative risk. It is a difference of convex functions, so not convex. Nor
// is it monotone: what a row gains in a leaf has no bound that knows the row alone.
//
// Shrinkage gives each channel a prior worth `a` events at the relative risk of the leaf, E / H: it draws the
// channels together, wherever the leaf itself is. A channel that is not used (all zeros, no prior) adds zero.
#pragma once

#include "objective/channels.hpp"

namespace surtree::SURTREE_ISA {

template <int NumberOfChannels>
struct Contrast : Channels<NumberOfChannels> {
    using Base = Channels<NumberOfChannels>;
    using Base::Base, Base::n_channels, Base::n_sums, Base::prior;
    static constexpr bool is_convex = false;
    static constexpr bool is_monotone = false;

    Vector gain(const Vector (&sums)[n_sums]) const {
        const Vector one = broadcast(1.0);
        Vector events = {}, hazard = {};
        for (int j = 0; j < n_channels; ++j) {
            events += sums[2 * j];
            hazard += sums[2 * j + 1];
        }
        const Vector per_event = quotient(hazard, larger(events, one));
        Vector total = {}, all_events = {}, all_hazard = {};
        for (int j = 0; j < n_channels; ++j) {
            const Vector e = sums[2 * j] + prior[j], h = sums[2 * j + 1] + prior[j] * per_event;
            total += RelativeRisk::gain(e, h);
            all_events += e;
            all_hazard += h;
        }
        total -= RelativeRisk::gain(all_events, all_hazard);
        // Without events nothing is known of a difference. Rounding may leave a little less than zero.
        return SURTREE_SELECT(events > 0, larger(total, Vector{}), Vector{});
    }
};

struct TwoContrasts : Contrast<2> {
    static constexpr const char* name = "two_contrasts";
    using Contrast::Contrast;
};

struct FourContrasts : Contrast<4> {
    static constexpr const char* name = "four_contrasts";
    using Contrast::Contrast;
};

}  // namespace surtree::SURTREE_ISA
