#include "search/near_trees.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "columns/regroup.hpp"
#include "search/sweep.hpp"
#include "search/trees.hpp"

namespace surtree {
namespace {

struct ByHash {
    std::size_t operator()(const RowSetHash& key) const { return key.hash(); }
};

// Every cut is needed, not only those of the best trees; conditions are about the columns as they are.
Control of_every_cut(Control control, const Conditions& conditions = {}) {
    control.switches.screen = 0;
    if (conditions.are_some()) control.switches.regroup = false;
    control.known_gains.clear();
    return control;
}

// Cuts that divide the rows as another one does are not solved: they get the profiles of that one.
void fill_equal_sides(const SideCounts& counts, int n_rows, std::vector<Profile>& sides) {
    std::unordered_map<RowSetHash, std::size_t, ByHash> known;
    for (std::size_t s = 0; s < sides.size(); ++s)
        if (!sides[s].empty()) known.emplace(counts.hash[s], s);
    for (std::size_t s = 0; s < sides.size(); ++s) {
        if (!sides[s].empty() || !counts.divides(static_cast<int>(s), n_rows)) continue;
        const auto same = known.find(counts.hash[s]);
        if (same != known.end()) sides[s] = sides[same->second];
    }
}

// The profiles of all sides of the root.
std::vector<Profile> root_sides(SweepSearch& search) {
    std::vector<Profile> sides;
    for (const RootResult& result : search.results()) sides.push_back(result.profile);
    sides.resize(at(search.recursion().columns().n_sides()));
    fill_equal_sides(search.recursion().root_sides(), search.rows().all.n, sides);
    return sides;
}

// A leaf in the key of a tree: its rows, hashed once more, so that sums of different leaves differ.
RowSetHash leaf_key(const RowSetHash& rows) {
    const RowSetHash low = hash_of_row(rows.low), high = hash_of_row(rows.high);
    return {low.low ^ std::rotl(high.high, 1), low.high ^ high.low};
}

}  // namespace

SideGains side_gains(const Problem& problem, const Limits& limits, const Control& given) {
    const Control control = of_every_cut(given);
    const Regrouped columns = regrouped(problem, control.switches);
    SweepSearch search(columns.problem, limits, control);
    SideGains out{search.run(), std::size_t{1}, {}};
    const std::vector<Profile> sides = root_sides(search);
    for (const Profile& side : sides) out.width = std::max(out.width, side.size());
    out.gains.assign(2 * problem.cuts.size() * out.width, -std::numeric_limits<double>::infinity());
    const SideCounts& counts = search.recursion().root_sides();
    const auto copy = [&](const Column& column, int c, const Profile& yes, const Profile& no) {
        if (!counts.divides(column.side(c, true), search.rows().all.n)) return;
        const std::size_t cut = at(columns.cut_of[at(column.first_cut + c)]);
        for (const bool holds : {false, true}) {
            const Profile& side = holds ? yes : no;
            double* to = out.gains.data() + (2 * cut + holds) * out.width;
            for (std::size_t k = 0; !side.empty() && k < out.width; ++k) {
                const double gain = side[std::min(k, side.size() - 1)];
                if (gain > infeasible / 2) to[k] = gain * search.rows().grid;
            }
        }
    };
    if (!sides.empty()) for_each_cut(search.recursion().columns(), sides, copy);
    return out;
}

class NearTrees::Walk {
 public:
    Walk(const Problem& problem, const Limits& limits, const Control& control, double within, bool distinct,
         Conditions conditions)
        : control_(of_every_cut(control, conditions)),
          columns_(regrouped(problem, control_.switches)),
          search_(columns_.problem, limits, control_),
          distinct_(distinct),
          conditions_(std::move(conditions)),
          boxes_(has_conditions() ? columns_.problem : Problem{}),
          status_(search_.run()) {
        if (status_ != Status::optimal) return;
        gains_ = search_.gains();
        // With conditions, the best tree that satisfies them is known later.
        const double share = has_conditions() ? 1.0 : within;
        slack_ = share * (gains_.back() - gains_[0]) + rows().slack + rows().tie;
        least_ = gains_.back() - slack_;
        root_ = std::make_unique<Node>(rows().all, search_.recursion().depth());
        root_->box = boxes_.all();
        open(*root_, {gains_, root_sides(search_)}, {});
        next_.resize(gains_.size());
        within_ = within;
    }

    // The best tree of at most 0, 1, ... splits that satisfies the conditions, and what none gains more than.
    Solution best(const Control& control) {
        Solution out;
        start(control);
        if (root_) {
            double gain = gains_[0], bound = gain;
            for (std::size_t k = 0; k < gains_.size(); ++k) {
                Tree tree;
                if (k > 0) {
                    Stream& stream = root_->streams[k];
                    stream.bound = gains_[k];
                    stream.floor = gain + rows().tie;
                    const std::optional<Part> part = part_of(side_of_root(k), 0);
                    if (part) add_tree(side_of_root(k), 0, tree);
                    if (part) gain = part->gain;
                    if (has_ended() && !part) bound = std::max(bound, stream.bound);
                }
                if (k == 0) tree.add_leaf();
                out.trees.push_back(tree.cut.empty() ? out.trees.back() : tree);
                bound = std::max(bound, gain);
                out.gains.push_back(gain * grid());
                out.gain_bounds.push_back(bound * grid());
            }
            least_ = std::max(least_, gain - within_ * (gain - gains_[0]) - rows().slack - rows().tie);
            for (Stream& stream : root_->streams) stream.floor = least_;
        }
        out.status = status_;
        out.n_evaluated = n_joined_;
        return out;
    }

    std::vector<double> free_gains() const {
        std::vector<double> out = gains_;
        for (double& gain : out) gain *= grid();
        return out;
    }

    Solution next(std::size_t n, const Control& control) {
        Solution out;
        start(control);
        while (out.trees.size() < n) {
            int best = -1;
            double most = least_;
            for (std::size_t k = 0; k < next_.size(); ++k) {
                const std::optional<Part> part = part_of(side_of_root(k), next_[k]);
                if (!part || part->gain < most) continue;
                most = part->gain;
                best = static_cast<int>(k);
            }
            if (has_ended() || best < 0) break;
            add_tree(side_of_root(at(best)), next_[at(best)]++, out.trees.emplace_back());
            out.gains.push_back(most * grid());
        }
        out.status = status_;
        return out;
    }

    bool is_full() const { return bytes_ > control_.memory_limit; }

 private:
    using Clock = std::chrono::steady_clock;
    struct Node;

    void start(const Control& control) {
        asks_ = &control;
        start_ = last_asked_ = Clock::now();
    }
    bool has_conditions() const { return conditions_.are_some(); }

    // One side of a cut, and the number of splits that go there.
    struct Side {
        int splits = 0;
        double leaf = 0;
        RowSetHash key;        // of its rows; with conditions, of its box
        double risk = 0;       // of a leaf
        Node* node = nullptr;  // once it is opened; a leaf needs none
    };
    struct Option {
        int cut = -1;   // in the order of columns
        Side sides[2];  // where it does not hold, where it does
    };
    // The best, second best, ... tree of one side with one of the other, or, before sides are opened, what
    // an option gains at most.
    struct Pair {
        double gain;
        int option;
        int rank[2];

        bool operator<(const Pair& other) const {
            return gain != other.gain ? gain < other.gain : option > other.option;
        }
    };
    struct Part {
        double gain;
        RowSetHash key;
    };
    // Trees of so many splits over a set of rows, best first.
    struct Stream {
        double least = 0;
        double floor = -std::numeric_limits<double>::infinity();  // what gains less is not asked for now
        double bound = 0;                                         // nothing further gains more
        std::vector<Option> options;
        std::vector<Pair> heap;
        std::vector<std::pair<Part, Pair>> trees;
        std::unordered_set<RowSetHash, ByHash> seen;
    };
    struct Node {
        RowSet rows;
        int depth;
        Box box{};
        double leaf = 0;
        std::vector<Stream> streams;  // by splits

        Node(RowSet rows_, int depth_) : rows(std::move(rows_)), depth(depth_) {}
    };

    const Rows& rows() const { return search_.rows(); }
    double grid() const { return rows().grid; }
    Side side_of_root(std::size_t k) const { return {static_cast<int>(k), root_->leaf, {}, 0, root_.get()}; }

    // A limit is the end: what was looked for meanwhile is lost.
    bool has_ended() const { return status_ != Status::optimal || is_full(); }
    bool must_end() {
        if (has_ended()) return true;
        const Clock::time_point now = Clock::now();
        const auto seconds = [&](Clock::time_point since) {
            return std::chrono::duration<double>(now - since).count();
        };
        if (is_timed(*asks_) && seconds(start_) >= asks_->time_limit) status_ = Status::time_limit;
        if (seconds(last_asked_) > 0.05) {
            last_asked_ = now;
            if (asks_->should_stop && asks_->should_stop({})) status_ = Status::interrupted;
        }
        return has_ended();
    }

    // Lists what each cut gains at most with so many splits, within the slack.
    void open(Node& node, Recursion::Solved solved, const SideCounts& counts_of_node) {
        const SideCounts& counts = &node == root_.get() ? search_.recursion().root_sides() : counts_of_node;
        const Columns& columns = search_.recursion().columns();
        const std::vector<double> risks = side_risks(node);
        node.leaf = solved.profile[0];
        node.streams.resize(solved.profile.size());
        for (std::size_t k = 1; k < node.streams.size(); ++k) {
            Stream& stream = node.streams[k];
            stream.least = &node == root_.get() ? least_ : solved.profile[k] - slack_;
            const auto add = [&](const Column& column, int c, const Profile& yes, const Profile& no) {
                // Kernels of one or two levels, and those of unordered columns of many bins, take every cut:
                // an empty side is a leaf worth nothing, the other the node as it is. That raises no optimum,
                // and so costs a search nothing, but it is no tree.
                if (!counts.divides(column.side(c, true), node.rows.n)) return;
                const auto add_shares = [&](const Choice& choice) {
                    Option option{choice.cut, {}};
                    double most = 0;
                    for (const bool holds : {false, true}) {
                        const Profile& side = holds ? yes : no;
                        const int n = choice.splits[holds];
                        const int number = column.side(c, holds);
                        option.sides[holds] = {n, side[0],
                                               key_of(node, choice.cut, holds, counts.hash[at(number)])};
                        if (!risks.empty()) option.sides[holds].risk = risks[at(number)];
                        most += side[at(n)];
                    }
                    stream.heap.push_back({most, static_cast<int>(stream.options.size()), {-1, -1}});
                    stream.options.push_back(option);
                };
                each_share(column.first_cut + c, yes, no, static_cast<int>(k), stream.least, add_shares);
            };
            if (!solved.sides.empty()) for_each_cut(columns, solved.sides, add);
            std::make_heap(stream.heap.begin(), stream.heap.end());
            bytes_ += stream.options.size() * (sizeof(Option) + 2 * sizeof(Pair));
        }
        if (node.depth == 1) node.rows = {};  // nothing is opened below
        bytes_ += sizeof(Node) + node.rows.bins.size() * sizeof(std::uint16_t) +
                  node.rows.sums.size() * sizeof(double) + node.rows.hashes.size() * sizeof(RowSetHash);
    }

    RowSetHash key_of(const Node& node, int cut, bool holds, const RowSetHash& rows) const {
        if (!has_conditions()) return rows;
        return Boxes::hash(boxes_.part(node.box, columns_.cut_of[at(cut)], holds));
    }

    // What each side of the cuts predicts as a leaf; empty where no condition is about that.
    std::vector<double> side_risks(const Node& node) {
        if (!conditions_.are_signed()) return {};
        const Columns& columns = search_.recursion().columns();
        const std::size_t width = at(node.rows.width), n_sums = 2 * conditions_.units.size();
        std::vector<double> out(at(columns.n_sides())), of_bin, sums(n_sums);
        for (const Column& column : columns) {
            of_bin.assign(at(column.n_bins) * n_sums, 0.0);
            const std::uint16_t* bins = node.rows.column(column.index);
            for (std::size_t r = 0; r < at(node.rows.n); ++r)
                for (std::size_t s = 0; s < n_sums; ++s)
                    of_bin[bins[r] * n_sums + s] += node.rows.sums[r * width + s];
            for (int c = 0; c < column.n_cuts; ++c)
                for (const bool holds : {false, true}) {
                    std::ranges::fill(sums, 0.0);
                    for (const Run& run : column.whole().runs_of(column.side(c, holds) - column.first_side()))
                        for (int b = run.first; b < run.last; ++b)
                            for (std::size_t s = 0; s < n_sums; ++s) sums[s] += of_bin[at(b) * n_sums + s];
                    out[at(column.side(c, holds))] = conditions_.risk(sums.data());
                }
        }
        return out;
    }

    Node& node_of(const Node& parent, int cut, bool holds, const RowSetHash& hash) {
        const std::array key{static_cast<std::uint64_t>(parent.depth - 1), hash.low, hash.high};
        std::unique_ptr<Node>& node = nodes_[key];
        if (node) return *node;
        const Column& column = search_.recursion().columns().of_side(2 * cut);
        RowSet taken;
        take_rows(parent.rows, column, column.side(cut - column.first_cut, holds) - column.first_side(),
                  taken);
        node = std::make_unique<Node>(std::move(taken), parent.depth - 1);
        const SideCounts counts(search_.recursion().columns(), node->rows);
        Recursion::Solved solved = search_.recursion().solve_again(node->rows, node->depth, worker_);
        // What divides the rows alike need not ask alike.
        if (!distinct_ || has_conditions()) fill_equal_sides(counts, node->rows.n, solved.sides);
        if (has_conditions()) node->box = boxes_.part(parent.box, columns_.cut_of[at(cut)], holds);
        open(*node, std::move(solved), counts);
        return *node;
    }

    // The tree of a rank among those of a side, best first; nothing where there is none, or no time.
    std::optional<Part> part_of(const Side& side, int rank) {
        if (side.splits == 0) {
            if (rank > 0 || side.leaf < infeasible / 2) return {};
            return Part{side.leaf, leaf_key(side.key)};
        }
        if (at(side.splits) >= side.node->streams.size()) return {};
        Stream& stream = side.node->streams[at(side.splits)];
        while (stream.trees.size() <= at(rank))
            if (!advance(*side.node, stream)) return {};
        return stream.trees[at(rank)].first;
    }

    // Finds the next tree of a stream; false where there is none, or at a limit.
    bool advance(Node& node, Stream& stream) {
        while (!stream.heap.empty() && stream.heap.front().gain >= stream.floor && !must_end()) {
            std::pop_heap(stream.heap.begin(), stream.heap.end());
            const Pair pair = stream.heap.back();
            stream.heap.pop_back();
            stream.bound = pair.gain;
            Option& option = stream.options[at(pair.option)];
            const auto [no, yes] = pair.rank;
            if (no < 0) {
                for (const bool holds : {false, true}) {
                    Side& side = option.sides[holds];
                    if (side.splits > 0) side.node = &node_of(node, option.cut, holds, side.key);
                }
                push(stream, pair.option, 0, 0);
                continue;
            }
            push(stream, pair.option, no, yes + 1);
            if (yes == 0) push(stream, pair.option, no + 1, 0);
            if (has_conditions() && !may_join(node, option, pair)) continue;
            const RowSetHash key = part_of(option.sides[0], no)->key + part_of(option.sides[1], yes)->key;
            if (distinct_ && !stream.seen.insert(key).second) continue;
            bytes_ += sizeof(stream.trees[0]) + sizeof(Pair) + at(distinct_) * 4 * sizeof(RowSetHash);
            stream.trees.push_back({{pair.gain, key}, pair});
            return true;
        }
        return false;
    }

    // Puts a pair of trees in the heap, if there are both.
    void push(Stream& stream, int number, int no, int yes) {
        const Option& option = stream.options[at(number)];
        const std::optional<Part> left = part_of(option.sides[0], no);
        const std::optional<Part> right = left ? part_of(option.sides[1], yes) : std::optional<Part>{};
        if (!right || left->gain + right->gain < stream.least) return;
        stream.heap.push_back({left->gain + right->gain, number, {no, yes}});
        std::push_heap(stream.heap.begin(), stream.heap.end());
    }

    bool may_join(const Node& node, const Option& option, const Pair& pair) {
        ++n_joined_;
        for (const bool holds : {false, true}) {
            leaves_[holds].clear();
            add_leaves(option.sides[holds], pair.rank[holds],
                       boxes_.part(node.box, columns_.cut_of[at(option.cut)], holds), leaves_[holds]);
        }
        return boxes_.may_join(conditions_, leaves_[0], leaves_[1]);
    }

    void add_leaves(const Side& side, int rank, Box box, std::vector<BoxedLeaf>& out) const {
        if (side.splits == 0) {
            out.push_back({side.risk, std::move(box)});
            return;
        }
        const Stream& stream = side.node->streams[at(side.splits)];
        const Pair& pair = stream.trees[at(rank)].second;
        const Option& option = stream.options[at(pair.option)];
        for (const bool holds : {false, true})
            add_leaves(option.sides[holds], pair.rank[holds],
                       boxes_.part(box, columns_.cut_of[at(option.cut)], holds), out);
    }

    int add_tree(const Side& side, int rank, Tree& out) const {
        const int here = out.add_leaf();
        if (side.splits == 0) return here;
        const Stream& stream = side.node->streams[at(side.splits)];
        const Pair& pair = stream.trees[at(rank)].second;
        const Option& option = stream.options[at(pair.option)];
        out.cut[at(here)] = columns_.cut_of[at(option.cut)];
        const int left = add_tree(option.sides[0], pair.rank[0], out);
        out.left[at(here)] = left;
        const int right = add_tree(option.sides[1], pair.rank[1], out);
        out.right[at(here)] = right;
        return here;
    }

    const Control control_;
    const Regrouped columns_;
    SweepSearch search_;
    const bool distinct_;
    const Conditions conditions_;
    const Boxes boxes_;
    Status status_;
    Profile gains_;
    double within_ = 0, slack_ = 0, least_ = 0;
    std::unique_ptr<Node> root_;
    std::map<std::array<std::uint64_t, 3>, std::unique_ptr<Node>> nodes_;  // by depth and rows
    std::vector<int> next_;  // by splits: the rank of the next tree of the root
    Recursion::Worker worker_;
    std::size_t bytes_ = 0;
    std::uint64_t n_joined_ = 0;
    std::vector<BoxedLeaf> leaves_[2];  // of the tree that is joined
    const Control* asks_ = nullptr;
    Clock::time_point start_, last_asked_;
};

NearTrees::NearTrees(const Problem& problem, const Limits& limits, const Control& control, double within,
                     bool distinct, Conditions conditions)
    : walk_(std::make_unique<Walk>(problem, limits, control, within, distinct, std::move(conditions))) {}
NearTrees::~NearTrees() = default;

Solution NearTrees::next(std::size_t n, const Control& control) { return walk_->next(n, control); }
Solution NearTrees::best(const Control& control) { return walk_->best(control); }
std::vector<double> NearTrees::free_gains() const { return walk_->free_gains(); }
bool NearTrees::is_full() const { return walk_->is_full(); }

}  // namespace surtree
