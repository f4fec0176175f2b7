#include "average/average.hpp"

#include <atomic>
#include <thread>

#include "average/averager.hpp"

namespace surtree {

Strengths weights_of(const Strengths& log_evidence) {
    LogSum sum;
    for (const double log : log_evidence) sum.add(log);
    Strengths out;
    for (const double log : log_evidence) out.push_back(std::exp(log - sum.value()));
    return out;
}

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
    const std::size_t size = averager.levels(0) <= 1 ? cells.n_single() : cells.size();
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

}  // namespace surtree
