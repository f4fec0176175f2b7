// What the Kaplan-Meier curves of the leaves are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace surtree {

// Rows, where they fall, and when to look at them. Arrays belong to the caller.
struct RiskInput {
    std::size_t n_rows, n_nodes, n_event_times, n_round_times;
    const std::int32_t* leaf_of_row;  // a node
    const std::int32_t* left;         // per node, -1 for a leaf
    const std::int64_t* order;        // rows by ascending time
    const double* time;
    const bool* event;
    const double* weight;
    const double* event_times;  // ascending: all times of events
    const double* round_times;  // ascending, the first is zero
};

struct RiskStep {
    std::int32_t event_time;  // its position
    double at_risk, deaths;   // weights
};

struct RiskCounts {
    std::vector<std::int32_t> begin;    // of the steps of each leaf, in the order of the nodes
    std::vector<RiskStep> steps;        // where a leaf has events, ascending
    std::vector<double> round_at_risk;  // leaves x round times
};

RiskCounts count_risk(const RiskInput& in);

}  // namespace surtree
