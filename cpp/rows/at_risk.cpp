#include "rows/at_risk.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace surtree {
namespace {

// The rows of each group, one group after the other: those of group g are begin[g] .. begin[g + 1] - 1.
struct Grouped {
    std::vector<std::size_t> begin, row;

    Grouped(const GroupRows& rows, std::size_t n_groups) : begin(n_groups + 1), row(rows.weight.n_rows) {
        for (std::size_t r = 0; r < row.size(); ++r) ++begin[static_cast<std::size_t>(rows.group[r]) + 1];
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
        for (std::size_t r = 0; r < row.size(); ++r) row[next[static_cast<std::size_t>(rows.group[r])]++] = r;
    }
};

enum : std::uint8_t { moved = 1, died = 2 };

// What happens at the steps of one group.
class StepTable {
 public:
    StepTable(std::size_t n_times, std::size_t n_parts)
        : n_(n_times + 1), n_parts_(n_parts), gone_(n_ * n_parts), deaths_(n_ * n_parts), flags_(n_) {}

    void clear() {
        std::fill(gone_.begin(), gone_.end(), 0.0);
        std::fill(deaths_.begin(), deaths_.end(), 0.0);
        std::fill(flags_.begin(), flags_.end(), std::uint8_t{0});
    }

    void leave(std::size_t step, RowWeights weight, std::size_t row, bool event) {
        for (std::size_t p = 0; p < n_parts_; ++p) {
            gone_[p * n_ + step] += weight(p, row);
            if (event) deaths_[p * n_ + step] += weight(p, row);
        }
        flags_[step] |= static_cast<std::uint8_t>(event ? moved | died : moved);
    }

    void enter(std::size_t step, RowWeights weight, std::size_t row) {
        for (std::size_t p = 0; p < n_parts_; ++p) gone_[p * n_ + step] -= weight(p, row);
        flags_[step] |= moved;
    }

    // Appends the steps where something happens, the last one first.
    void append_to(GroupsAtRisk& out, std::vector<std::vector<double>>& at_risk,
                   std::vector<std::vector<double>>& deaths) const {
        std::vector<double> running(n_parts_);
        for (std::size_t step = n_; step-- > 1;) {
            for (std::size_t p = 0; p < n_parts_; ++p) running[p] += gone_[p * n_ + step];
            if (!(flags_[step - 1] & moved) && !(flags_[step] & died)) continue;
            out.step.push_back(static_cast<std::int64_t>(step - 1));
            for (std::size_t p = 0; p < n_parts_; ++p) {
                at_risk[p].push_back(running[p]);
                deaths[p].push_back(deaths_[p * n_ + step]);
            }
        }
    }

    void begin_at_zero() { flags_[0] |= moved; }

 private:
    std::size_t n_, n_parts_;
    std::vector<double> gone_, deaths_;
    std::vector<std::uint8_t> flags_;
};

// Adds the weights of rows to the last of some times that each of them reaches.
void add_at_round(const GroupRows& rows, const std::vector<double>& times, double sign, std::size_t n_groups,
                  std::vector<double>& to) {
    for (std::size_t r = 0; r < rows.weight.n_rows; ++r) {
        const auto after = std::upper_bound(times.begin(), times.end(), rows.time[r]) - times.begin();
        const std::size_t cell =
            static_cast<std::size_t>(rows.group[r]) * times.size() + static_cast<std::size_t>(after) - 1;
        for (std::size_t p = 0; p < rows.weight.n_parts; ++p)
            to[p * n_groups * times.size() + cell] += sign * rows.weight(p, r);
    }
}

template <class T>
void reverse_from(std::vector<T>& values, std::size_t first) {
    std::reverse(values.begin() + static_cast<std::ptrdiff_t>(first), values.end());
}

std::vector<double> concatenated(const std::vector<std::vector<double>>& parts) {
    std::vector<double> all;
    for (const std::vector<double>& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

}  // namespace

RiskTable count_risk(const std::int64_t* order, const double* time, const bool* event, RowWeights weight) {
    std::vector<double> times, running(weight.n_parts), dying(weight.n_parts);
    std::vector<std::vector<double>> at_risk(weight.n_parts), deaths(weight.n_parts);
    bool has_event = false;
    for (std::size_t k = weight.n_rows; k-- > 0;) {
        const auto row = static_cast<std::size_t>(order[k]);
        for (std::size_t p = 0; p < weight.n_parts; ++p) {
            running[p] += weight(p, row);
            if (event[row]) dying[p] += weight(p, row);
        }
        has_event |= event[row];
        if (!has_event || (k > 0 && time[order[k - 1]] == time[row])) continue;
        times.push_back(time[row]);
        for (std::size_t p = 0; p < weight.n_parts; ++p) {
            at_risk[p].push_back(running[p]);
            deaths[p].push_back(dying[p]);
            dying[p] = 0;
        }
        has_event = false;
    }
    std::reverse(times.begin(), times.end());
    for (auto* sums : {&at_risk, &deaths})
        for (std::vector<double>& part : *sums) std::reverse(part.begin(), part.end());
    return {std::move(times), concatenated(at_risk), concatenated(deaths)};
}

std::vector<std::int64_t> count_steps(const std::int64_t* order, const double* time, std::size_t n_rows,
                                      const double* times, std::size_t n_times) {
    std::vector<std::int64_t> steps(n_rows);
    std::size_t reached = 0;
    for (std::size_t k = 0; k < n_rows; ++k) {
        while (reached < n_times && times[reached] <= time[order[k]]) ++reached;
        steps[static_cast<std::size_t>(order[k])] = static_cast<std::int64_t>(reached);
    }
    return steps;
}

GroupsAtRisk count_groups(std::size_t n_groups, std::size_t n_times, const GroupRows& leaving,
                          const bool* event, const bool* censored, double censored_scale,
                          std::size_t censored_parts, const GroupRows& entering,
                          const std::vector<double>& round_times) {
    const std::size_t n_parts = leaving.weight.n_parts;
    GroupsAtRisk out;
    std::vector<std::vector<double>> at_risk(n_parts), deaths(n_parts);
    StepTable table(n_times, n_parts);
    const Grouped leave(leaving, n_groups), enter(entering, n_groups);
    std::vector<double> first_censored(censored_parts);
    for (std::size_t g = 0; g < n_groups; ++g) {
        table.clear();
        std::fill(first_censored.begin(), first_censored.end(), std::numeric_limits<double>::infinity());
        double last = 0;
        for (std::size_t k = leave.begin[g]; k < leave.begin[g + 1]; ++k) {
            const std::size_t row = leave.row[k];
            table.leave(static_cast<std::size_t>(leaving.step[row]), leaving.weight, row, event[row]);
            last = std::max(last, leaving.time[row]);
            if (!censored[row]) continue;
            // The last time of all is in the last part.
            const auto part =
                std::min(static_cast<std::size_t>(leaving.time[row] * censored_scale), censored_parts - 1);
            first_censored[part] = std::min(first_censored[part], leaving.time[row]);
        }
        for (std::size_t k = enter.begin[g]; k < enter.begin[g + 1]; ++k)
            table.enter(static_cast<std::size_t>(entering.step[enter.row[k]]), entering.weight, enter.row[k]);
        if (entering.weight.n_rows == 0) table.begin_at_zero();
        const std::size_t before = out.step.size(), censored_before = out.censored.size();
        table.append_to(out, at_risk, deaths);
        reverse_from(out.step, before);
        for (auto* sums : {&at_risk, &deaths})
            for (std::vector<double>& part : *sums) reverse_from(part, before);
        for (const double time : first_censored)
            if (time < std::numeric_limits<double>::infinity()) out.censored.push_back(time);
        out.n_steps.push_back(static_cast<std::int64_t>(out.step.size() - before));
        out.n_censored.push_back(static_cast<std::int64_t>(out.censored.size() - censored_before));
        out.last_time.push_back(last);
    }
    out.at_risk = concatenated(at_risk);
    out.deaths = concatenated(deaths);
    std::vector<double>& round = out.round_at_risk;
    round.assign(n_parts * n_groups * round_times.size(), 0.0);
    // A row is at risk until the last of these times that it reaches, and not before it enters ...
    add_at_round(leaving, round_times, 1, n_groups, round);
    add_at_round(entering, round_times, -1, n_groups, round);
    for (std::size_t start = 0; start < round.size(); start += round_times.size())
        for (std::size_t t = round_times.size() - 1; t-- > 0;) round[start + t] += round[start + t + 1];
    // ... but rows with entry zero are at risk from the start.
    for (std::size_t r = 0; r < entering.weight.n_rows; ++r)
        if (entering.time[r] == 0)
            for (std::size_t p = 0; p < n_parts; ++p)
                round[(p * n_groups + static_cast<std::size_t>(entering.group[r])) * round_times.size()] +=
                    entering.weight(p, r);
    return out;
}

}  // namespace surtree
