// Several hazards in a leaf, each with a relative risk of its own: a channel for each cause of an event, or
// for each arm of a trial. A channel has E events and H expected events, and the leaf gains the sum of
// E log(E / H) over its channels. All properties are those of one channel (relative_risk.hpp).
//
// Each channel has a prior of its own, so that a channel that counts more (its E and H are multiples) has a
// prior that counts more, and one that is not used (all zeros) has none: it gains nothing.
#pragma once

#include "objective/relative_risk.hpp"

namespace surtree::SURTREE_ISA {

template <int NumberOfChannels>
struct Channels {
    static constexpr int n_channels = NumberOfChannels;
    static constexpr int n_sums = 2 * n_channels;  // events, hazard of each channel
    static constexpr int n_parameters = n_channels;
    static constexpr int exposure = RelativeRisk::exposure;
    static constexpr bool is_convex = true;
    static constexpr bool is_monotone = true;
    static constexpr bool is_nonnegative = true;

    Vector prior[n_channels];

    explicit Channels(const double* parameters) : prior{} {
        for (int j = 0; j < n_channels; ++j) prior[j] = broadcast(parameters[j]);
    }

    Vector gain(const Vector (&sums)[n_sums]) const {
        Vector total = {};
        for (int j = 0; j < n_channels; ++j) total += channel_gain(j, sums[2 * j], sums[2 * j + 1]);
        return total;
    }
    Vector channel_gain(int j, Vector events, Vector hazard) const {
        return RelativeRisk::gain(events + prior[j], hazard + prior[j]);
    }

    Vector saturated(const Vector (&sums)[n_sums]) const {
        Vector total = {};
        for (int j = 0; j < n_channels; ++j) total += RelativeRisk::gain(sums[2 * j], sums[2 * j + 1]);
        return total;
    }

    static double scale(const double* totals) {
        double events = 0;
        for (int j = 0; j < n_channels; ++j) events += totals[2 * j];
        return events;
    }

    static double saturated_exactly(const double* channel) {
        return RelativeRisk::saturated_exactly(channel);
    }
};

struct TwoChannels : Channels<2> {
    static constexpr const char* name = "two_channels";
    using Channels::Channels;
};

struct FourChannels : Channels<4> {
    static constexpr const char* name = "four_channels";
    using Channels::Channels;
};

}  // namespace surtree::SURTREE_ISA
