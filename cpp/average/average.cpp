#include "average/average.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>

#include "average/evidence.hpp"
#include "average/nodes.hpp"
#include "search/workers.hpp"

namespace surtree {
namespace {

// A number for each strength of the prior.
using Strengths = std::vector<double>;

// For each strength and column, the share of trees that do not ask about the column.
using NotAsked = std::vector<double>;

// Choices that have less of the posterior than this count as two leaves: the error is below rounding.
constexpr double negligible = 1e-16;

// The terms whose sum is the evidence of a node.
struct Terms {
    Strengths leaf;               // the logarithm of the node as a leaf
    std::vector<Choice> choices;  // the ways to divide it, by column ...
    std::vector<double> logs;     // ... and the logarithm of each: choices x strengths
    Strengths log_evidence;       // of all together

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
    int column_of(const Choice& choice) const { return rows_.cuts()[at(choice.cut)].column; }

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
    void append_logs(const RowList& rows, const Histogram& histogram, const std::vector<Choice>& choices,
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
                               const Choice& choice = terms.choices[k];
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
                              const Choice& choice = terms.choices[k];
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
    double mean(std::size_t a, const Cell& leaf) const {
        const double mean = leaves_[a].mean(leaf.events, leaf.expected);
        return prior_.logarithm ? std::log(mean) : mean;
    }

    Cell rest_of(const Histogram& histogram, const Choice& choice) const {
        Cell total;  // of the bins of any column
        for (int bin = 0; bin < cells().n_bins(0); ++bin) total += histogram[at(bin)];
        return total - choice.inside;
    }

    // Of a node that may have one split at most.
    Terms stump_terms(const Histogram& histogram, const Cell& total) const {
        Terms out = begin_terms(histogram, total);
        if (max_depth_ == 0) out.choices.clear();
        for (const Choice& choice : out.choices) {
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
            const Choice& choice = terms.choices[k];
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

    // Of one bin of a column: a constant, and what the bins of all columns add to it.
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
                            const std::vector<Choice>& choices, int column, const Visit& visit) const {
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
    void for_each_division(const RowList& rows, const std::vector<Choice>& choices, int column,
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
Strengths weights_of(const Strengths& log_evidence) {
    LogSum sum;
    for (const double log : log_evidence) sum.add(log);
    Strengths out;
    for (const double log : log_evidence) out.push_back(std::exp(log - sum.value()));
    return out;
}

// Runs a task for each column; what it leaves is taken in the order of the columns, whichever ends first.
Status for_each_column(Workers& workers, const Control& control, int n_columns,
                       const std::function<std::function<void()>(int)>& task) {
    std::atomic<int> next{0}, taken{0};
    const auto work = [&] {
        for (int column = next++; column < n_columns && workers.may_begin_task(); column = next++) {
            const std::function<void()> take = task(column);
            while (taken != column && !workers.stopped()) std::this_thread::yield();
            if (workers.stopped()) return;
            take();
            ++taken;
        }
    };
    return workers.run(std::max(1, std::min(control.n_threads, n_columns)), work,
                       [&] { return Progress{static_cast<double>(taken) / n_columns, 0, 0}; });
}

// The terms of the root, its columns side by side.
Status find_root_terms(const Averager& averager, const RowList& rows, const Histogram& histogram,
                       Workers& workers, const Control& control, Terms& terms) {
    if (averager.levels(0) <= 1) {
        terms = averager.terms(rows, 0);
        return Status::optimal;
    }
    terms = averager.begin_terms(histogram, averager.rows().total(rows));
    const Status status = for_each_column(workers, control, averager.cells().n_columns(), [&](int column) {
        std::vector<double> logs;
        averager.append_logs(rows, histogram, terms.choices, column, 0, logs);
        return [&terms, logs = std::move(logs)] {
            terms.logs.insert(terms.logs.end(), logs.begin(), logs.end());
        };
    });
    if (status == Status::optimal) averager.end_terms(terms, 0);
    return status;
}

// A number from zero to one that depends on the seed and on how many were drawn before.
class Uniform {
 public:
    explicit Uniform(std::uint64_t seed) : state_(seed) {}
    double operator()() {
        state_ += 0x9e3779b97f4a7c15ULL;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }

 private:
    std::uint64_t state_;
};

// Appends a node drawn from its posterior, and what is below it.
int draw_node(const Averager& averager, const Terms& terms, const RowList& rows, int depth,
              std::size_t strength, Uniform& uniform, Tree& tree) {
    const int node = tree.add_leaf();
    double left = uniform() - terms.share_of_leaf(strength);
    if (left < 0 || terms.choices.empty()) return node;
    std::size_t k = 0;
    while (k + 1 < terms.choices.size() && (left -= terms.share(k, strength)) >= 0) ++k;
    RowList inside, outside;
    averager.rows().divide(rows, terms.choices[k].cut, inside, outside);
    const auto draw = [&](const RowList& side) {
        if (averager.levels(depth) == 1) return tree.add_leaf();
        return draw_node(averager, averager.terms(side, depth + 1), side, depth + 1, strength, uniform, tree);
    };
    tree.cut[at(node)] = terms.choices[k].cut;
    tree.left[at(node)] = draw(outside);
    tree.right[at(node)] = draw(inside);
    return node;
}

}  // namespace

TreeAverage average_trees(const Problem& problem, const Limits& limits, const TreePrior& prior,
                          const Control& control) {
    Workers workers(control);
    const Averager averager(problem, limits, prior, workers);
    const PairCells& cells = averager.cells();
    const RowList rows = averager.rows().all();
    const Histogram histogram = averager.rows().histogram(rows);
    TreeAverage out;
    Terms terms;
    out.status = find_root_terms(averager, rows, histogram, workers, control, terms);
    if (out.status != Status::optimal) return out;

    const Strengths weight = weights_of(terms.log_evidence);
    const std::size_t size = cells.size();
    out.mean.assign(size * (averager.levels(0) > 2 ? 1 + at(cells.n_bins()) : 1), 0.0);
    NotAsked not_asked = averager.not_asked_by_leaf(terms);
    if (averager.levels(0) <= 1) {
        averager.add_node(rows, 0, weight, out.mean.data(), not_asked);
    } else {
        averager.add_leaf(averager.rows().total(rows), terms, weight, out.mean.data());
        out.status = for_each_column(workers, control, cells.n_columns(), [&](int column) {
            std::vector<double> table(size);
            NotAsked of_column(not_asked.size());
            if (averager.levels(0) == 2)
                averager.add_pairs(rows, histogram, terms, column, weight, table.data(), of_column);
            else
                averager.add_triples(rows, histogram, terms, column, weight, table.data(),
                                     out.mean.data() + size, of_column);
            return [&, table = std::move(table), of_column = std::move(of_column)] {
                for (std::size_t cell = 0; cell < size; ++cell) out.mean[cell] += table[cell];
                for (std::size_t k = 0; k < not_asked.size(); ++k) not_asked[k] += of_column[k];
            };
        });
        if (out.status != Status::optimal) return out;
    }

    out.first.assign(problem.cuts.size(), 0.0);
    out.asked.assign(averager.n_columns(), 1.0);
    for (std::size_t a = 0; a < weight.size(); ++a) {
        for (std::size_t k = 0; k < terms.choices.size(); ++k)
            out.first[at(terms.choices[k].cut)] += weight[a] * terms.share(k, a);
        for (std::size_t c = 0; c < averager.n_columns(); ++c)
            out.asked[c] -= weight[a] * not_asked[a * averager.n_columns() + c];
    }
    out.log_evidence = std::move(terms.log_evidence);
    return out;
}

TreeDraws draw_trees(const Problem& problem, const Limits& limits, const TreePrior& prior, int n_draws,
                     std::uint64_t seed, const Control& control) {
    Workers workers(control);
    const Averager averager(problem, limits, prior, workers);
    const RowList rows = averager.rows().all();
    TreeDraws out;
    Terms terms;
    out.status = find_root_terms(averager, rows, averager.rows().histogram(rows), workers, control, terms);
    if (out.status != Status::optimal) return out;
    const Strengths weight = weights_of(terms.log_evidence);
    out.status = workers.run(
        1,
        [&] {
            Uniform uniform(seed);
            for (int k = 0; k < n_draws && !workers.stopped(); ++k) {
                double left = uniform();
                std::size_t strength = 0;
                while (strength + 1 < weight.size() && (left -= weight[strength]) >= 0) ++strength;
                Tree tree;
                draw_node(averager, terms, rows, 0, strength, uniform, tree);
                out.trees.push_back(std::move(tree));
                out.strength.push_back(static_cast<int>(strength));
            }
        },
        [] { return Progress{}; });
    return out;
}

}  // namespace surtree
