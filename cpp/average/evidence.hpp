// Evidences and posterior means of leaves, and sums of logarithms.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace surtree {

// The logarithm of a sum, term by term, whose terms are given by their logarithms.
class LogSum {
 public:
    void add(double log_term) {
        if (log_term <= most_) {
            if (log_term > most_ - negligible) sum_ += std::exp(log_term - most_);
        } else {
            sum_ = sum_ * std::exp(most_ - log_term) + 1;
            most_ = log_term;
        }
    }
    double value() const { return most_ + std::log(sum_); }

 private:
    static constexpr double negligible = 50;  // less than rounding, also of a million terms

    double most_ = -std::numeric_limits<double>::infinity();
    double sum_ = 0;
};

// As std::lgamma, for arguments above zero; that one writes to a variable that threads share.
inline double log_gamma(double x) {
    double product = 1;
    for (; x < 10; x += 1) product *= x;
    const double r = 1 / x, r2 = r * r;
    constexpr double half_log_two_pi = 0.91893853320467274178;
    const double series =
        r * (1. / 12 -
             r2 * (1. / 360 - r2 * (1. / 1260 - r2 * (1. / 1680 - r2 * (1. / 1188 - r2 * (691. / 360360))))));
    return (x - 0.5) * std::log(x) - x + half_log_two_pi + series - std::log(product);
}

// The evidence of a leaf for one strength of the prior. Sums come in whole units of a grid.
class LeafEvidence {
 public:
    // `most` events of `unit` are in a leaf at most; where they are whole, their gammas are looked up.
    LeafEvidence(double strength, double unit, double most, bool whole_events)
        : strength_(strength), unit_(unit), constant_(strength * std::log(strength) - log_gamma(strength)) {
        if (!whole_events || most * unit > max_table) return;
        table_.resize(static_cast<std::size_t>(most * unit) + 1);
        for (std::size_t k = 0; k < table_.size(); ++k)
            table_[k] = log_gamma(static_cast<double>(k) + strength);
    }

    double log_of(double events, double expected) const {
        const double e = events * unit_ + strength_;
        const double gamma = table_.empty() ? log_gamma(e) : table_[static_cast<std::size_t>(events * unit_)];
        return gamma - e * std::log(expected * unit_ + strength_) + constant_;
    }
    double mean(double events, double expected) const {
        return (events * unit_ + strength_) / (expected * unit_ + strength_);
    }

 private:
    static constexpr double max_table = 1 << 20;

    double strength_, unit_, constant_;
    std::vector<double> table_;  // log Gamma(k + strength)
};

}  // namespace surtree
