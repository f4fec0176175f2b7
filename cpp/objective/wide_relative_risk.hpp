// The relative risk of rows whose weights differ by many orders of magnitude. Each sum has two parts, of
// whole coarse units and of whole fine units, so that light rows keep their digits beside heavy ones: E and H
// are exact up to 2^87 fine units. The caller divides the numbers of each row (solver/_wide.py); `exposure`
// is the fine part of the hazard, which is not zero for any row that has a fine unit of hazard.
//
// E and H are rounded to doubles, but their difference is taken part by part. So the gain of a leaf has an
// error of some units in its last place, also where a heavy leaf is close to the average risk.
#pragma once

#include "objective/relative_risk.hpp"

namespace surtree::SURTREE_ISA {

struct WideRelativeRisk {
    static constexpr const char* name = "wide_relative_risk";
    static constexpr int n_sums = 4;  // events, hazard in coarse units; events, hazard in fine units
    static constexpr int n_channels = 1;
    static constexpr int n_parameters = 1;  // shrinkage
    static constexpr int exposure = 3;
    static constexpr bool is_convex = false;  // it is, but a scan can bound pairs of sums only
    static constexpr bool is_monotone = true;
    static constexpr bool is_nonnegative = true;

    static constexpr double coarse = 0x1p36;  // fine units

    Vector prior;

    explicit WideRelativeRisk(const double* parameters) : prior(broadcast(parameters[0])) {}

    Vector gain(const Vector (&sums)[n_sums]) const { return gain_with(prior, sums); }
    Vector saturated(const Vector (&sums)[n_sums]) const { return gain_with(Vector{}, sums); }

    // Gains have all their digits, so that less than otherwise counts as a tie: 2^-49 of the events.
    static double scale(const double* totals) { return (totals[0] * coarse + totals[2]) * 0x1p-9; }

    static double saturated_exactly(const double* row) {
        const double joined[] = {row[0] * coarse + row[2], row[1] * coarse + row[3]};
        return RelativeRisk::saturated_exactly(joined);
    }

 private:
    static Vector gain_with(Vector prior, const Vector (&sums)[n_sums]) {
        const Vector events = sums[0] * coarse + sums[2] + prior, hazard = sums[1] * coarse + sums[3] + prior;
        const Vector excess = (sums[0] - sums[1]) * coarse + (sums[2] - sums[3]);
        const auto difference = [excess](Vector e, Vector h, Vector k) {
            return SURTREE_SELECT(k * k > 0, e - h, excess);
        };
        return RelativeRisk::gain(events, hazard, difference);
    }
};

}  // namespace surtree::SURTREE_ISA
