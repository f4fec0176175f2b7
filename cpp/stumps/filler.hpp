// Fills the table of stumps before any side of the root is solved: each cell of four cuts is evaluated once,
// where a sweep evaluates it once for each of the four as the root.
#pragma once

#include <array>
#include <mutex>

#include "search/table_solver.hpp"
#include "stumps/store.hpp"

namespace surtree {

class StumpFiller {
 public:
    StumpFiller(StumpStore& store, const Columns& columns, const Rows& rows, const bool* stop);

    // A task is a pair of columns, with all later ones.
    int n_tasks() const { return static_cast<int>(tasks_.size()); }
    bool run(int task, Scratch& scratch);

 private:
    template <std::size_t N>
    bool solve(const std::array<int, N>& places, Scratch& scratch);
    void raise(double* to, std::size_t size, const double* from);

    StumpStore& store_;
    const Rows& rows_;
    const bool* stop_;
    std::vector<std::unique_ptr<ColumnRegions>> regions_;  // of three levels, by place in the store's order
    std::vector<std::array<int, 2>> tasks_;
    std::array<std::mutex, 64> mutexes_;  // each for some parts of the table
};

}  // namespace surtree
