// The recurrence over nodes: the evidence of every tree below a node, and the mean of all of them.
#pragma once

#include <algorithm>
#include <cmath>

#include "average/average.hpp"
#include "average/evidence.hpp"
#include "average/nodes.hpp"
#include "search/workers.hpp"

namespace surtree {

// A number for each strength of the prior.
using Strengths = std::vector<double>;

// For each strength and column, the share of trees that do not ask about the column.
using NotAsked = std::vector<double>;

// The terms whose sum is the evidence of a node.
struct Terms {
    Strengths leaf;                 // the logarithm of the node as a leaf
    std::vector<Division> choices;  // the ways to divide it, by column ...
    std::vector<double> logs;       // ... and the logarithm of each: choices x strengths
    Strengths log_evidence;         // of all together

    std::size_t n_strengths() const { return leaf.size(); }
    double share_of_leaf(std::size_t a) const { return std::exp(leaf[a] - log_evidence[a]); }
    double share(std::size_t choice, std::size_t a) const {
        return std::exp(logs[choice * n_strengths() + a] - log_evidence[a]);
    }
};

class Averager {
 public:
    Averager(const Problem& problem, const Limits& limits, const TreePrior& prior, const Workers& workers)
        : rows_(problem, limits), max_depth_(limits.max_depth), prior_(prior), workers_(workers) {
        const Cell total = rows_.total(rows_.all());
        for (const double strength : prior.strengths)
            leaves_.emplace_back(strength, rows_.unit(), total.events, rows_.has_whole_events());
    }

    const AverageRows& rows() const { return rows_; }
    const PairCells& cells() const { return rows_.cells(); }
    std::size_t n_strengths() const { return leaves_.size(); }
    int levels(int depth) const { return max_depth_ - depth; }
    int column_of(const Division& choice) const { return rows_.cuts()[at(choice.cut)].column; }

    Terms terms(const RowList& rows, int depth) const {
        const Histogram histogram = rows_.histogram(rows);
        if (levels(depth) <= 1) return stump_terms(histogram, rows_.total(rows));
        Terms out = begin_terms(histogram, rows_.total(rows));
        for (int column = 0; column < cells().n_columns(); ++column)
            append_logs(rows, histogram, out.choices, column, depth, out.logs);
        end_terms(out, depth);
        return out;
    }

    Terms begin_terms(const Histogram& histogram, const Cell& total) const {
        Terms out;
        for (const LeafEvidence& leaf : leaves_)
            out.leaf.push_back(leaf.log_of(total.events, total.expected));
        rows_.find_choices(histogram, out.choices);
        return out;
    }

    // Appends, for each choice of a column, the logarithm of the evidence of its sides together.
    void append_logs(const RowList& rows, const Histogram& histogram, const std::vector<Division>& choices,
                     int column, int depth, std::vector<double>& logs) const {
        const auto append = [&](const Terms& inside, const Terms& outside) {
            for (std::size_t a = 0; a < n_strengths(); ++a)
                logs.push_back(inside.log_evidence[a] + outside.log_evidence[a]);
        };
        if (levels(depth) == 2) {
            for_each_histogram(rows, histogram, choices, column,
                               [&](std::size_t k, const Histogram& inside, const Histogram& outside) {
                                   append(stump_terms(inside, choices[k].inside),
                                          stump_terms(outside, rest_of(histogram, choices[k])));
                               });
        } else {
            for_each_division(rows, choices, column,
                              [&](std::size_t, const RowList& inside, const RowList& outside) {
                                  append(terms(inside, depth + 1), terms(outside, depth + 1));
                              });
        }
    }

    // Adds the priors to the logarithms of the choices, and everything up.
    void end_terms(Terms& terms, int depth) const {
        terms.logs.resize(terms.choices.size() * n_strengths());  // some are missing where stopped
        const double log_split = std::log(prior_.split[at(depth)]);
        const double log_leaf = terms.choices.empty() ? 0 : std::log1p(-prior_.split[at(depth)]);
        for (std::size_t a = 0; a < n_strengths(); ++a) {
            LogSum sum;
            sum.add(terms.leaf[a] += log_leaf);
            for (std::size_t k = 0; k < terms.choices.size(); ++k)
                sum.add(terms.logs[k * n_strengths() + a] += log_split + terms.choices[k].log_prior);
            terms.log_evidence.push_back(sum.value());
        }
    }

    // Adds the posterior mean of the trees of a node to a table, given the weight of each strength, and
    // finds what they do not ask about.
    void add_node(const RowList& rows, int depth, const Strengths& weight, double* table,
                  NotAsked& not_asked) const {
        const Histogram histogram = rows_.histogram(rows);
        if (levels(depth) <= 1) return add_stump(histogram, rows_.total(rows), weight, table, not_asked);
        const Terms of_node = terms(rows, depth);
        add_leaf(rows_.total(rows), of_node, weight, table);
        not_asked = not_asked_by_leaf(of_node);
        for (int column = 0; column < cells().n_columns(); ++column)
            add_pairs(rows, histogram, of_node, column, weight, table, not_asked);
    }

    void add_leaf(const Cell& total, const Terms& terms, const Strengths& weight, double* table) const {
        for (std::size_t a = 0; a < n_strengths(); ++a)
            table[PairCells::constant] += weight[a] * terms.share_of_leaf(a) * mean(a, total);
    }

    // Trees of a leaf alone ask about no column.
    NotAsked not_asked_by_leaf(const Terms& terms) const {
        NotAsked out;
        for (std::size_t a = 0; a < n_strengths(); ++a)
            out.insert(out.end(), n_columns(), terms.share_of_leaf(a));
        return out;
    }

    // Adds what the choices of one column contribute at a node with two levels of splits.
    void add_pairs(const RowList& rows, const Histogram& histogram, const Terms& terms, int column,
                   const Strengths& weight, double* table, NotAsked& not_asked) const {
        const std::size_t width = 1 + at(cells().n_bins()), n_bins = at(cells().n_bins(column));
        std::vector<double> changes((n_bins + 1) * width), inside_mean(width), outside_mean(width);
        for_each_histogram(rows, histogram, terms.choices, column,
                           [&](std::size_t k, const Histogram& inside, const Histogram& outside) {
                               const Division& choice = terms.choices[k];
                               const Cell rest = rest_of(histogram, choice);
                               add_choice(
                                   terms, k, weight, not_asked, inside_mean, outside_mean,
                                   [&](const Strengths& own, NotAsked& ask_inside, NotAsked& ask_outside) {
                                       add_stump(inside, choice.inside, own, inside_mean.data(), ask_inside);
                                       add_stump(outside, rest, own, outside_mean.data(), ask_outside);
                                   },
                                   rest);
                               for (std::size_t b = 0; b < width; ++b) table[b] += outside_mean[b];
                               // Differences of sums over bins: from one bin of the column to the next.
                               rows_.for_each_run(choice.cut, [&](int first, int last) {
                                   for (std::size_t b = 0; b < width; ++b) {
                                       changes[at(first) * width + b] += inside_mean[b] - outside_mean[b];
                                       changes[at(last) * width + b] -= inside_mean[b] - outside_mean[b];
                                   }
                               });
                           });
        std::vector<double> now(width);
        for (std::size_t bin = 0; bin < n_bins; ++bin) {
            for (std::size_t b = 0; b < width; ++b) now[b] += changes[bin * width + b];
            add_bin(column, static_cast<int>(bin), now, table);
        }
    }

    // The same at a node with three levels: `slices` has a table for each bin.
    void add_triples(const RowList& rows, const Histogram& histogram, const Terms& terms, int column,
                     const Strengths& weight, double* table, double* slices, NotAsked& not_asked) const {
        const std::size_t size = cells().size();
        std::vector<double> inside_mean(size), outside_mean(size);
        for_each_division(rows, terms.choices, column,
                          [&](std::size_t k, const RowList& inside, const RowList& outside) {
                              const Division& choice = terms.choices[k];
                              add_choice(
                                  terms, k, weight, not_asked, inside_mean, outside_mean,
                                  [&](const Strengths& own, NotAsked& ask_inside, NotAsked& ask_outside) {
                                      add_node(inside, 1, own, inside_mean.data(), ask_inside);
                                      add_node(outside, 1, own, outside_mean.data(), ask_outside);
                                  },
                                  rest_of(histogram, choice));
                              for (std::size_t cell = 0; cell < size; ++cell)
                                  table[cell] += outside_mean[cell];
                              rows_.for_each_run(choice.cut, [&](int first, int last) {
                                  for (int bin = first; bin < last; ++bin) {
                                      double* slice = slices + size * at(cells().first_bin(column) + bin);
                                      for (std::size_t c = 0; c < size; ++c)
                                          slice[c] += inside_mean[c] - outside_mean[c];
                                  }
                              });
                          });
    }

    std::size_t n_columns() const { return at(cells().n_columns()); }

 private:
    // Choices that have less of the posterior than this count as two leaves: the error is below rounding.
    static constexpr double negligible = 1e-16;

    double mean(std::size_t a, const Cell& leaf) const {
        const double mean = leaves_[a].mean(leaf.events, leaf.expected);
        return prior_.logarithm ? std::log(mean) : mean;
    }

    Cell rest_of(const Histogram& histogram, const Division& choice) const {
        Cell total;  // of the bins of any column
        for (int bin = 0; bin < cells().n_bins(0); ++bin) total += histogram[at(bin)];
        return total - choice.inside;
    }

    // The terms of a node that may have one split at most.
    Terms stump_terms(const Histogram& histogram, const Cell& total) const {
        Terms out = begin_terms(histogram, total);
        if (max_depth_ == 0) out.choices.clear();
        for (const Division& choice : out.choices) {
            const Cell outside = total - choice.inside;
            for (const LeafEvidence& leaf : leaves_)
                out.logs.push_back(leaf.log_of(choice.inside.events, choice.inside.expected) +
                                   leaf.log_of(outside.events, outside.expected));
        }
        end_terms(out, std::max(0, max_depth_ - 1));
        return out;
    }

    void add_stump(const Histogram& histogram, const Cell& total, const Strengths& weight, double* table,
                   NotAsked& not_asked) const {
        const Terms terms = stump_terms(histogram, total);
        add_leaf(total, terms, weight, table);
        not_asked.assign(n_strengths() * n_columns(), 1.0);
        for (std::size_t k = 0; k < terms.choices.size(); ++k) {
            const Division& choice = terms.choices[k];
            const std::size_t column = at(column_of(choice));
            double inside = 0, outside = 0;
            for (std::size_t a = 0; a < n_strengths(); ++a) {
                const double share = terms.share(k, a);
                inside += weight[a] * share * mean(a, choice.inside);
                outside += weight[a] * share * mean(a, total - choice.inside);
                not_asked[a * n_columns() + column] -= share;
            }
            table[PairCells::constant] += outside;
            double* bins = table + cells().of_bin(static_cast<int>(column), 0);
            rows_.for_each_run(choice.cut, [&](int first, int last) {
                for (int bin = first; bin < last; ++bin) bins[bin] += inside - outside;
            });
        }
    }

    // Finds the means of the sides of a choice, by `add` or, where it is negligible, as leaves.
    template <class Add>
    void add_choice(const Terms& terms, std::size_t k, const Strengths& weight, NotAsked& not_asked,
                    std::vector<double>& inside_mean, std::vector<double>& outside_mean, const Add& add,
                    const Cell& rest) const {
        Strengths share, own;
        for (std::size_t a = 0; a < n_strengths(); ++a) {
            share.push_back(terms.share(k, a));
            own.push_back(weight[a] * share[a]);
        }
        std::fill(inside_mean.begin(), inside_mean.end(), 0);
        std::fill(outside_mean.begin(), outside_mean.end(), 0);
        if (*std::max_element(own.begin(), own.end()) < negligible) {
            for (std::size_t a = 0; a < n_strengths(); ++a) {
                inside_mean[PairCells::constant] += own[a] * mean(a, terms.choices[k].inside);
                outside_mean[PairCells::constant] += own[a] * mean(a, rest);
            }
            return;
        }
        NotAsked ask_inside, ask_outside;
        add(own, ask_inside, ask_outside);
        for (std::size_t a = 0; a < n_strengths(); ++a)
            for (std::size_t c = 0; c < n_columns(); ++c) {
                const std::size_t at_column = a * n_columns() + c;
                if (c != at(column_of(terms.choices[k])))
                    not_asked[at_column] += share[a] * ask_inside[at_column] * ask_outside[at_column];
            }
    }

    // Adds what one bin of a column is worth: a constant, and what the bins of all columns add to it.
    void add_bin(int column, int bin, const std::vector<double>& values, double* table) const {
        const std::size_t own = cells().of_bin(column, bin);
        table[own] += values[PairCells::constant] + values[own];
        for (int other = 0; other < cells().n_columns(); ++other) {
            if (other == column) continue;
            for (int b = 0; b < cells().n_bins(other); ++b)
                table[cells().of_bins(column, bin, other, b)] += values[cells().of_bin(other, b)];
        }
    }

    // Visits the choices of one column with the histograms of their sides.
    template <class Visit>
    void for_each_histogram(const RowList& rows, const Histogram& histogram,
                            const std::vector<Division>& choices, int column, const Visit& visit) const {
        std::vector<Cell> prefixes;
        const std::size_t width = histogram.size();
        Histogram inside(width), outside(width);
        for (std::size_t k = 0; k < choices.size(); ++k) {
            if (column_of(choices[k]) != column || workers_.stopped()) continue;
            if (prefixes.empty()) prefixes = rows_.prefixes(rows, column);
            std::fill(inside.begin(), inside.end(), Cell{});
            rows_.for_each_run(choices[k].cut, [&](int first, int last) {
                const Cell *from = prefixes.data() + at(first) * width,
                           *to = prefixes.data() + at(last) * width;
                for (std::size_t b = 0; b < width; ++b) inside[b] += to[b] - from[b];
            });
            for (std::size_t b = 0; b < width; ++b) outside[b] = histogram[b] - inside[b];
            visit(k, inside, outside);
        }
    }

    // Visits the choices of one column with the rows of their sides.
    template <class Visit>
    void for_each_division(const RowList& rows, const std::vector<Division>& choices, int column,
                           const Visit& visit) const {
        RowList inside, outside;
        for (std::size_t k = 0; k < choices.size(); ++k) {
            if (column_of(choices[k]) != column || workers_.stopped()) continue;
            rows_.divide(rows, choices[k].cut, inside, outside);
            visit(k, inside, outside);
        }
    }

    AverageRows rows_;
    int max_depth_;
    TreePrior prior_;
    const Workers& workers_;
    std::vector<LeafEvidence> leaves_;
};

// The weight of each strength, all being as likely before.
Strengths weights_of(const Strengths& log_evidence);

// Runs a task for each column; what it leaves is taken in the order of the columns, whichever ends first.
Status for_each_column(Workers& workers, const Control& control, int n_columns,
                       const std::function<std::function<void()>(int)>& task);

// Finds the terms of the root, its columns side by side.
Status find_root_terms(const Averager& averager, const RowList& rows, const Histogram& histogram,
                       Workers& workers, const Control& control, Terms& terms);

}  // namespace surtree
