#include "columns/regroup.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace surtree {
namespace {

constexpr std::size_t max_group = 15;  // sets, so that tables over triples of groups stay small
constexpr std::size_t max_bits = std::size_t{1} << 31;  // of all sets together

// The side of a binary column that does not contain row 0, as a bit set. Sets that all leave out the same row
// are compatible if and only if they are nested or disjoint.
struct RowsOfCut {
    int column;
    bool flipped;  // the set is where the cut does not hold
    std::size_t size = 0;
    std::vector<std::uint64_t> rows;
};

bool compatible(const RowsOfCut& a, const RowsOfCut& b) {
    bool both = false, only_a = false, only_b = false;
    for (std::size_t w = 0; w < a.rows.size(); ++w) {
        both |= (a.rows[w] & b.rows[w]) != 0;
        only_a |= (a.rows[w] & ~b.rows[w]) != 0;
        only_b |= (b.rows[w] & ~a.rows[w]) != 0;
        if (both && only_a && only_b) return false;
    }
    return true;
}

bool contains(const RowsOfCut& outer, const RowsOfCut& inner) {
    for (std::size_t w = 0; w < outer.rows.size(); ++w)
        if (inner.rows[w] & ~outer.rows[w]) return false;
    return true;
}

class Regrouper {
 public:
    explicit Regrouper(const Problem& problem)
        : problem_(problem),
          cuts_of_column_(problem.cuts_by_column()),
          out_{problem.without_columns(), {}, {}} {}

    Regrouped run() {
        std::vector<std::vector<RowsOfCut>> groups;
        std::vector<int> others;
        std::size_t bits = 0;
        for (int column = 0; column < static_cast<int>(problem_.n_columns); ++column) {
            const bool is_binary = problem_.n_bins[at(column)] == 2 && problem_.missing_bin[at(column)] < 0 &&
                                   cuts_of_column_[at(column)].size() == 1;
            bits += problem_.n_rows;
            if (!is_binary || bits > max_bits) {
                others.push_back(column);
                continue;
            }
            RowsOfCut set = rows_of(column);
            const auto fits = [&](const std::vector<RowsOfCut>& group) {
                return group.size() < max_group &&
                       std::ranges::all_of(group, [&](auto& other) { return compatible(set, other); });
            };
            const auto group = std::ranges::find_if(groups, fits);
            if (group == groups.end())
                groups.push_back({std::move(set)});
            else
                group->push_back(std::move(set));
        }
        for (const int column : others) copy(column);
        for (auto& group : groups) merge(group);
        out_.problem.n_columns = out_.problem.n_bins.size();
        out_.problem.bins = out_.bins.data();
        return std::move(out_);
    }

 private:
    const std::uint16_t* bins(int column) const { return problem_.bins + at(column) * problem_.n_rows; }

    RowsOfCut rows_of(int column) const {
        const Cut& cut = problem_.cuts[at(cuts_of_column_[at(column)][0])];
        const std::uint16_t* from = bins(column);
        RowsOfCut set{column, cut.holds(from[0], -1), 0, {}};
        set.rows.assign((problem_.n_rows + 63) / 64, 0);
        for (std::size_t r = 0; r < problem_.n_rows; ++r) {
            const bool holds = cut.holds(from[r], -1);
            set.rows[r / 64] |= static_cast<std::uint64_t>(holds != set.flipped) << (r % 64);
        }
        for (const std::uint64_t word : set.rows) set.size += static_cast<std::size_t>(std::popcount(word));
        return set;
    }

    void add_column(int n_bins, int missing_bin) {
        out_.problem.n_bins.push_back(n_bins);
        out_.problem.missing_bin.push_back(missing_bin);
    }

    void add_cut(int original, Cut cut) {
        cut.column = static_cast<int>(out_.problem.n_bins.size()) - 1;
        cut.leads = problem_.cuts[at(original)].leads;
        out_.problem.cuts.push_back(cut);
        out_.cut_of.push_back(original);
    }

    void copy(int column) {
        add_column(problem_.n_bins[at(column)], problem_.missing_bin[at(column)]);
        for (const int c : cuts_of_column_[at(column)]) add_cut(c, problem_.cuts[at(c)]);
        out_.bins.insert(out_.bins.end(), bins(column), bins(column) + problem_.n_rows);
    }

    // Complements sets so that all leave out a row of the smallest set instead of row 0. Thresholds of one
    // variable lie above or below the value of row 0; after this they form one chain.
    void look_from_an_end(std::vector<RowsOfCut>& group) const {
        const auto smallest = std::ranges::min_element(group, {}, &RowsOfCut::size);
        std::size_t row = 0;
        while (row < problem_.n_rows && !(smallest->rows[row / 64] >> (row % 64) & 1)) ++row;
        if (row == problem_.n_rows) return;
        for (RowsOfCut& set : group) {
            if (!(set.rows[row / 64] >> (row % 64) & 1)) continue;
            for (std::uint64_t& word : set.rows) word = ~word;
            if (problem_.n_rows % 64) set.rows.back() &= (1ULL << (problem_.n_rows % 64)) - 1;
            set.flipped = !set.flipped;
            set.size = problem_.n_rows - set.size;
        }
    }

    // Builds the tree of sets: the parent of a set is the smallest set that contains it. Bins are numbered in
    // preorder, so that a set and its descendants are an interval of bins. Bin 0 has the rows of no set.
    void merge(std::vector<RowsOfCut>& group) {
        if (group.size() == 1) return copy(group[0].column);
        look_from_an_end(group);
        std::vector<std::size_t> by_size(group.size());
        std::iota(by_size.begin(), by_size.end(), 0);
        std::ranges::stable_sort(by_size, std::greater{}, [&](std::size_t k) { return group[k].size; });
        std::vector<std::vector<std::size_t>> inside(group.size() + 1);  // children; last, those of the root
        for (std::size_t k = 0; k < by_size.size(); ++k) {
            std::size_t parent = group.size();
            for (std::size_t j = 0; j < k; ++j)
                if (contains(group[by_size[j]], group[by_size[k]])) parent = by_size[j];
            inside[parent].push_back(by_size[k]);
        }
        std::vector<int> first(group.size() + 1), last(group.size() + 1);
        int next = 0;
        const auto number = [&](const auto& self, std::size_t set) -> void {
            std::size_t n_rest = set < group.size() ? group[set].size : problem_.n_rows;
            for (const std::size_t child : inside[set]) n_rest -= group[child].size;
            first[set] = next;
            if (n_rest > 0) ++next;
            for (const std::size_t child : inside[set]) self(self, child);
            last[set] = next - 1;
        };
        number(number, group.size());

        add_column(next, -1);
        const std::size_t begin = out_.bins.size();
        out_.bins.resize(begin + problem_.n_rows, 0);
        for (const std::size_t k : by_size)  // smaller sets overwrite larger ones
            for (std::size_t r = 0; r < problem_.n_rows; ++r)
                if (group[k].rows[r / 64] >> (r % 64) & 1)
                    out_.bins[begin + r] = static_cast<std::uint16_t>(first[k]);
        for (std::size_t k = 0; k < group.size(); ++k)
            add_cut(cuts_of_column_[at(group[k].column)][0], {0, first[k], last[k], false, group[k].flipped});
    }

    const Problem& problem_;
    std::vector<std::vector<int>> cuts_of_column_;
    Regrouped out_;
};

}  // namespace

Regrouped regroup(const Problem& problem) { return Regrouper(problem).run(); }

Regrouped regrouped(const Problem& problem, const Switches& switches) {
    if (switches.regroup) return regroup(problem);
    Regrouped out{problem, std::vector<int>(problem.cuts.size()), {}};
    std::iota(out.cut_of.begin(), out.cut_of.end(), 0);
    return out;
}

}  // namespace surtree
