#include "search/conditions.hpp"

#include <algorithm>
#include <bit>

#include "columns/regions.hpp"

namespace surtree {
namespace {

constexpr std::size_t word_bits = 64;

void set_bit(std::uint64_t* words, int bin) {
    words[at(bin) / word_bits] |= std::uint64_t{1} << (at(bin) % word_bits);
}

}  // namespace

double Conditions::risk(const double* sums) const {
    double events = prior, exposure = prior;
    for (std::size_t k = 0; k < units.size(); ++k) {
        events += units[k] * sums[2 * k];
        exposure += units[k] * sums[2 * k + 1];
    }
    // Half an event where there is none, and no more than on average.
    return events > 0 ? events / exposure : std::min(0.5 / exposure, 1.0);
}

Boxes::Boxes(const Problem& problem) {
    for (const int n_bins : problem.n_bins) {
        begin_.push_back(all_.size());
        all_.resize(all_.size() + (at(n_bins) + word_bits - 1) / word_bits);
    }
    begin_.push_back(all_.size());
    values_ = all_;
    for (std::size_t c = 0; c < problem.n_columns; ++c)
        for (int b = 0; b < problem.n_bins[c]; ++b) {
            set_bit(all_.data() + begin_[c], b);
            if (b != problem.missing_bin[c]) set_bit(values_.data() + begin_[c], b);
        }
    for (const Cut& cut : problem.cuts) {
        const std::size_t c = at(cut.column);
        Box words(begin_[c + 1] - begin_[c]);
        for (const Run& run : region_of(cut, problem.n_bins[c], problem.missing_bin[c]))
            for (int b = run.first; b < run.last; ++b) set_bit(words.data(), b);
        holds_.push_back(std::move(words));
        column_.push_back(cut.column);
    }
}

Box Boxes::part(const Box& box, int cut, bool holds) const {
    Box out = box;
    const Box& words = holds_[at(cut)];
    for (std::size_t w = 0; w < words.size(); ++w)
        out[begin_[at(column_[at(cut)])] + w] &= holds ? words[w] : ~words[w];
    return out;
}

RowSetHash Boxes::hash(const Box& box) {
    RowSetHash out;
    for (std::size_t w = 0; w < box.size(); ++w) {
        const RowSetHash word = hash_of_row(box[w] ^ (w * 0x9e3779b97f4a7c15ULL));
        out = out + RowSetHash{std::rotl(word.low, static_cast<int>(w % word_bits)), word.high};
    }
    return out;
}

bool Boxes::is_asked(const Box& box, int column) const {
    return !std::equal(box.begin() + static_cast<std::ptrdiff_t>(begin_[at(column)]),
                       box.begin() + static_cast<std::ptrdiff_t>(begin_[at(column + 1)]),
                       all_.begin() + static_cast<std::ptrdiff_t>(begin_[at(column)]));
}

bool Boxes::meet(const Box& a, const Box& b, int apart) const {
    for (int c = 0; c + 1 < static_cast<int>(begin_.size()); ++c) {
        if (c == apart) continue;
        bool common = false;
        for (std::size_t w = begin_[at(c)]; w < begin_[at(c + 1)]; ++w) common |= (a[w] & b[w]) != 0;
        if (!common) return false;
    }
    return true;
}

bool Boxes::has_lower(const Box& low, const Box& high, int column) const {
    const std::size_t first = begin_[at(column)], last = begin_[at(column + 1)];
    std::size_t least = first, most = last;
    while (least < last && (low[least] & values_[least]) == 0) ++least;
    while (most > first && (high[most - 1] & values_[most - 1]) == 0) --most;
    if (least == last || most == first) return false;
    --most;
    if (least != most) return least < most;
    return std::countr_zero(low[least] & values_[least]) <
           static_cast<int>(word_bits) - 1 - std::countl_zero(high[most] & values_[most]);
}

bool Boxes::may_join(const Conditions& conditions, const std::vector<BoxedLeaf>& no,
                     const std::vector<BoxedLeaf>& yes) const {
    const int n_columns = static_cast<int>(begin_.size()) - 1;
    if (conditions.max_columns >= 0) {
        int n_asked = 0;
        for (int c = 0; c < n_columns; ++c) {
            const auto asks = [&](const BoxedLeaf& leaf) { return is_asked(leaf.box, c); };
            n_asked += std::ranges::any_of(no, asks) || std::ranges::any_of(yes, asks);
        }
        if (n_asked > conditions.max_columns) return false;
    }
    if (!conditions.are_signed()) return true;
    for (const BoxedLeaf& a : no)
        for (const BoxedLeaf& b : yes) {
            const double rounding = 1e-9 * std::max(a.risk, b.risk);
            if (std::abs(a.risk - b.risk) <= rounding) continue;
            for (int c = 0; c < n_columns; ++c) {
                const int sign = conditions.signs[at(c)];
                if (sign == 0) continue;
                // The leaf that must not have lower values than the other.
                const bool a_first = (a.risk > b.risk) == (sign > 0);
                const Box& wrong = a_first ? a.box : b.box;
                const Box& other = a_first ? b.box : a.box;
                if (has_lower(wrong, other, c) && meet(a.box, b.box, c)) return false;
            }
        }
    return true;
}

}  // namespace surtree
