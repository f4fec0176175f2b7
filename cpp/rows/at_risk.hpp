// Who is at risk over time: of all rows, and of the rows of each of some groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace surtree {

// Weights are given in parts that are whole numbers of some units, so that sums of them are exact: as arrays
// (n_parts x n_rows), and so are all sums of weights below.
struct RowWeights {
    const double* parts;
    std::size_t n_parts, n_rows;

    double operator()(std::size_t part, std::size_t row) const { return parts[part * n_rows + row]; }
};

// The distinct times of events, ascending, with the weight at risk and that of the events at each of them.
struct RiskTable {
    std::vector<double> times, at_risk, deaths;
};

// Rows are given in the order of their times. None of them enters late.
RiskTable count_risk(const std::int64_t* order, const double* time, const bool* event, RowWeights weight);

// For each row, how many of some times, ascending, are not after its own.
std::vector<std::int64_t> count_steps(const std::int64_t* order, const double* time, std::size_t n_rows,
                                      const double* times, std::size_t n_times);

// Rows that leave their groups, or that enter them late.
struct GroupRows {
    const std::int64_t* group;
    const std::int64_t* step;  // the number of event times up to the time of a row
    const double* time;
    RowWeights weight;
};

struct GroupsAtRisk {
    std::vector<std::int64_t> n_steps, n_censored;  // of each group
    // At the event times where what is at risk changes, or where the group has an event.
    std::vector<std::int64_t> step;
    std::vector<double> at_risk, deaths;
    std::vector<double> round_at_risk;  // n_parts x n_groups x n_round
    std::vector<double> censored;       // of each part of the time axis, the first time
    std::vector<double> last_time;      // of each group
};

// Event and censored say how rows leave; the rest is as in `surtree.tree.at_risk`.
GroupsAtRisk count_groups(std::size_t n_groups, std::size_t n_times, const GroupRows& leaving,
                          const bool* event, const bool* censored, double censored_scale,
                          std::size_t censored_parts, const GroupRows& entering,
                          const std::vector<double>& round_times);

}  // namespace surtree
