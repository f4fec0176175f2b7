#include "rows/pairs.hpp"

#include <algorithm>
#include <numeric>

namespace surtree {
namespace {

// Sums over ranks below each rank, of weights that are added one by one: a Fenwick tree.
class RankSums {
 public:
    explicit RankSums(std::size_t n_ranks) : sums_(n_ranks + 1) {}

    void add(std::size_t rank, double weight) {
        for (std::size_t k = rank + 1; k < sums_.size(); k += k & (~k + 1)) sums_[k] += weight;
    }

    double below(std::size_t rank) const {
        double total = 0;
        for (std::size_t k = rank; k > 0; k &= k - 1) total += sums_[k];
        return total;
    }

 private:
    std::vector<double> sums_;
};

}  // namespace

std::vector<double> pair_weights(const std::int64_t* time, const std::int64_t* risk, std::size_t n_rows,
                                 const double* first, std::size_t n_kinds, const double* second) {
    const auto rank_of = [&](std::size_t row) { return static_cast<std::size_t>(risk[row]); };
    std::size_t n_ranks = 0;
    for (std::size_t row = 0; row < n_rows; ++row) n_ranks = std::max(n_ranks, rank_of(row) + 1);
    std::vector<std::size_t> order(n_rows);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t one, std::size_t other) { return time[one] > time[other]; });
    RankSums later(n_ranks);
    std::vector<double> of_rank(n_ranks), out(3 * n_kinds);
    double all = 0;
    for (std::size_t begin = 0, end = 0; begin < n_rows; begin = end) {
        while (end < n_rows && time[order[end]] == time[order[begin]]) ++end;
        for (std::size_t k = begin; k < end; ++k) {
            const std::size_t row = order[k], rank = rank_of(row);
            const double sums[] = {later.below(rank), of_rank[rank], all};
            for (std::size_t s = 0; s < 3; ++s)
                for (std::size_t kind = 0; kind < n_kinds; ++kind)
                    out[s * n_kinds + kind] += first[kind * n_rows + row] * sums[s];
        }
        for (std::size_t k = begin; k < end; ++k) {
            const std::size_t row = order[k];
            later.add(rank_of(row), second[row]);
            of_rank[rank_of(row)] += second[row];
            all += second[row];
        }
    }
    return out;
}

}  // namespace surtree
