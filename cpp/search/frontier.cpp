#include "search/frontier.hpp"

#include <algorithm>
#include <limits>

namespace surtree {

Frontier::Frontier(const OrderedRows& rows, const ChainedProblem& chained, const Rows& all, Outcome start,
                   const Profile& known, int child_budget, double tolerance, const std::vector<Cut>* cuts)
    : chained_(chained),
      leaf_(all.leaf),
      n_sums_(at(all.leaf.width())),
      width_(at(child_budget) + 1),
      outcome_(std::move(start)),
      known_(known),
      tolerance_(tolerance),
      chains_(at(chained.n_chains)) {
    known_.resize(outcome_.best.size(), infeasible);
    // Entry 0 stands for both ends of a chain: no rows gain nothing.
    kept_.assign(2 * width_, 0.0);
    for (int v = 0; v < chained.n_chains; ++v) {
        find_boundaries(rows, v);
        find_allowed(v, cuts);
        n_cuts_ += at(n_boundaries(v));
        push(v, 0, n_boundaries(v) + 1);
    }
    for (int v = chained.n_chains; v < chained.n_columns(); ++v)
        for (std::size_t c = 0; c < chained[v].cut.size(); ++c)
            if (!cuts || (*cuts)[at(chained[v].cut[c])].leads) others_.push_back({v, static_cast<int>(c)});
    n_cuts_ += others_.size();
    n_open_ = static_cast<double>(n_cuts_);
}

void Frontier::find_boundaries(const OrderedRows& rows, int chain) {
    const OrderedRows::Order& order = rows.orders[at(chain)];
    Chain& out = chains_[at(chain)];
    const auto rank = [&](int k) { return static_cast<int>(order.code[at(k)] >> 1); };
    double saturated = 0;
    double sums[LeafValue::max_width] = {};
    RowSetHash hash;
    const auto add = [&](const Boundary& boundary) {
        out.boundaries.push_back(boundary);
        out.sums.insert(out.sums.end(), sums, sums + n_sums_);
    };
    add({0, 0, 0, 0.0, hash, 0});
    for (int k = 0; k < rows.n; ++k) {
        if (k > 0 && rank(k) != rank(k - 1)) add({k, rank(k - 1), rank(k) - 1, saturated, hash});
        saturated += rows.saturated[at(order.row[at(k)])];
        hash = hash + rows.hashes[at(order.row[at(k)])];
        for (std::size_t c = 0; c < n_sums_; ++c) sums[c] += order.sums[at(k) * n_sums_ + c];
    }
    add({rows.n, 0, 0, saturated, hash, 0});
}

void Frontier::find_allowed(int chain, const std::vector<Cut>* cuts) {
    Chain& out = chains_[at(chain)];
    int first = 1, last = n_boundaries(chain);
    const auto narrow = [&](const auto& is_allowed) {
        while (last > 0 && !is_allowed(last)) --last;
        while (first <= last && !is_allowed(first)) ++first;
    };
    if (cuts)
        narrow([&](int b) {
            const SameCuts same = cuts_at(chain, b);
            const auto begin = chained_[chain].cut.begin();
            return std::any_of(begin + same.first, begin + same.last + 1,
                               [&](int cut) { return (*cuts)[at(cut)].leads; });
        });
    out.first_leading = first;
    out.last_leading = last;
    // Counts grow along the chain, so the cuts that leave enough on both sides are an interval.
    double below[LeafValue::max_width], above[LeafValue::max_width];
    if (leaf_.is_limited())
        narrow([&](int b) {
            divide_sums(chain, b, below, above);
            return leaf_.allows(below) && leaf_.allows(above);
        });
    out.first_allowed = first;
    out.last_allowed = last;
}

void Frontier::divide_sums(int chain, int boundary, double* below, double* above) const {
    const std::vector<double>& sums = chains_[at(chain)].sums;
    const double *here = sums.data() + at(boundary) * n_sums_, *all = sums.data() + sums.size() - n_sums_;
    for (std::size_t c = 0; c < n_sums_; ++c) {
        below[c] = here[c];
        above[c] = all[c] - here[c];
    }
}

Frontier::SameCuts Frontier::cuts_at(int chain, int boundary) const {
    return {this->boundary(chain, boundary).first_cut, this->boundary(chain, boundary).last_cut};
}

void Frontier::bounds(const Place& interval, Profile& out) const {
    const Boundary &low = boundary(interval.column, interval.low),
                   &high = boundary(interval.column, interval.high);
    const double between = high.saturated - low.saturated;
    const double* below = kept_.data() + at(low.solved) * 2 * width_;
    const double* above = kept_.data() + at(high.solved) * 2 * width_ + width_;
    out.assign(outcome_.best.size(), 2 * infeasible);
    join(below, width_, above, width_, out);
    for (double& bound : out) bound += between;
}

double Frontier::bound_between(int chain, int low, int high, std::size_t splits) const {
    bounds({chain, 0, low, high}, scratch_);
    return *std::max_element(scratch_.begin(), scratch_.begin() + static_cast<std::ptrdiff_t>(splits) + 1);
}

// Sizes of at most one split are exact from the start.
double Frontier::promise(const Place& interval) const {
    bounds(interval, scratch_);
    double most = -std::numeric_limits<double>::infinity();
    const double saturated = chains_[at(interval.column)].boundaries.back().saturated;
    for (std::size_t k = 2; k < scratch_.size(); ++k) {
        const double gain = std::max(outcome_.best[k], known_[k]);
        most = std::max(most, scratch_[k] - gain - tolerance_ * (saturated - gain));
    }
    return most;
}

void Frontier::push(int chain, int low, int high) {
    if (high - low < 2) return;
    Place middle{chain, 0, low, high};
    const double most = promise(middle);
    if (most <= 0 || !place(chain, low, high, middle)) return drop(middle);
    heap_.push_back({most, middle});
    std::push_heap(heap_.begin(), heap_.end());
}

void Frontier::drop(const Place& interval) {
    n_open_ -= interval.high - interval.low - 1;
    const Chain& chain = chains_[at(interval.column)];
    if (interval.low >= chain.last_leading || interval.high <= chain.first_leading) return;
    if (!leaf_.is_limited() && tolerance_ == 0) return;  // the incumbent is the bound
    bounds(interval, scratch_);
    for (std::size_t k = 2; k < scratch_.size(); ++k)
        outcome_.bound[k] = std::max(outcome_.bound[k], scratch_[k]);
}

bool Frontier::next(Place& out) {
    if (!others_.empty()) {
        out = others_.back();
        others_.pop_back();
        ++n_others_in_work_;
        return true;
    }
    while (!heap_.empty()) {
        std::pop_heap(heap_.begin(), heap_.end());
        Interval interval = heap_.back();
        heap_.pop_back();
        // The incumbent may have improved since the interval was pushed.
        interval.promise = promise(interval.place);
        if (interval.promise <= 0) {
            drop(interval.place);
            continue;
        }
        if (!heap_.empty() && heap_.front().promise > interval.promise) {
            heap_.push_back(interval);
            std::push_heap(heap_.begin(), heap_.end());
            continue;
        }
        in_work_.push_back(out = interval.place);
        return true;
    }
    return false;
}

// Binary search for the cut that halves the saturated gain of the interval.
bool Frontier::place(int chain, int low, int high, Place& out) const {
    const std::vector<Boundary>& boundaries = chains_[at(chain)].boundaries;
    const int first = std::max(low + 1, chains_[at(chain)].first_allowed),
              last = std::min(high - 1, chains_[at(chain)].last_allowed);
    if (first > last) return false;
    const double half = (boundaries[at(low)].saturated + boundaries[at(high)].saturated) / 2;
    const auto middle = std::ranges::lower_bound(boundaries.begin() + first, boundaries.begin() + last, half,
                                                 {}, &Boundary::saturated);
    out = {chain, static_cast<int>(middle - boundaries.begin()), low, high};
    return true;
}

void Frontier::divide(const OrderedRows& rows, const Place& place, Partition& out) const {
    if (place.column >= chained_.n_chains) return divide_other(rows, chained_, place.column, place.cut, out);
    const Boundary &here = boundary(place.column, place.cut),
                   &end = chains_[at(place.column)].boundaries.back();
    divide_chain(rows, place.column, here.position, out);
    out.n[0] = here.position;
    out.n[1] = rows.n - here.position;
    out.hash[0] = here.hash;
    out.hash[1] = end.hash - here.hash;
    out.totals.resize(2 * n_sums_);
    divide_sums(place.column, place.cut, out.totals.data(), out.totals.data() + n_sums_);
}

void Frontier::keep_bounds(const Place& place, const Outcome (&sides)[2]) {
    chains_[at(place.column)].boundaries[at(place.cut)].solved =
        static_cast<int>(kept_.size() / (2 * width_));
    for (const Outcome& side : sides) kept_.insert(kept_.end(), side.bound.begin(), side.bound.end());
}

void Frontier::add(const Place& place, const Outcome (&sides)[2]) {
    ++n_evaluated_;
    --n_open_;
    const bool is_chain = place.column < chained_.n_chains;
    const int cut =
        chained_[place.column].cut[at(is_chain ? cuts_at(place.column, place.cut).first : place.cut)];
    Profile &best = outcome_.best, &bound = outcome_.bound;
    for (std::size_t i = 0; i < width_; ++i)
        for (std::size_t j = 0; j < width_ && i + j + 1 < best.size(); ++j) {
            const std::size_t k = i + j + 1;
            bound[k] = std::max(bound[k], sides[0].bound[i] + sides[1].bound[j]);
            const double gain = sides[0].best[i] + sides[1].best[j];
            if (gain <= best[k]) continue;
            best[k] = gain;
            outcome_.choices[k] = {cut, {static_cast<int>(i), static_cast<int>(j)}};
        }
    for (std::size_t k = 1; k < best.size(); ++k) {
        bound[k] = std::max(bound[k], bound[k - 1]);
        if (best[k - 1] <= best[k]) continue;
        best[k] = best[k - 1];
        outcome_.choices[k] = outcome_.choices[k - 1];
    }
    if (!is_chain) {
        --n_others_in_work_;
        return;
    }
    keep_bounds(place, sides);
    in_work_.erase(std::ranges::find(in_work_, place));
    push(place.column, place.low, place.cut);
    push(place.column, place.cut, place.high);
}

Profile Frontier::bound() const {
    Profile out = outcome_.bound, open;
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = std::max({out[k], outcome_.best[k], known_[k]});
    const auto include = [&](const Place& interval) {
        bounds(interval, open);
        for (std::size_t k = 2; k < out.size(); ++k) out[k] = std::max(out[k], open[k]);
    };
    for (const Interval& interval : heap_) include(interval.place);
    for (const Place& interval : in_work_) include(interval);
    if (!others_.empty() || n_others_in_work_ > 0) {
        const double saturated = chains_.empty() ? 0 : chains_[0].boundaries.back().saturated;
        for (std::size_t k = 2; k < out.size(); ++k) out[k] = std::max(out[k], saturated);
    }
    return out;
}

double Frontier::open_share() const { return n_cuts_ == 0 ? 0 : n_open_ / static_cast<double>(n_cuts_); }

}  // namespace surtree
