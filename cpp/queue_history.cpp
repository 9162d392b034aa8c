#include "queue_history.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

namespace noctule {

namespace {

std::vector<std::size_t> sorted_rows(std::size_t n, auto&& before) {
    std::vector<std::size_t> rows(n);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    std::ranges::stable_sort(rows, before);
    return rows;
}

// Sums of the first values of a list of which any may grow.
template <typename T> class GrowingSums {
  public:
    explicit GrowingSums(std::size_t n) : sums_(n + 1) {}

    void add(std::size_t place, T amount) {
        for (std::size_t i = place + 1; i < sums_.size(); i += i & (~i + 1)) {
            sums_[i] += amount;
        }
    }

    T first(std::size_t n) const {
        T sum{};
        for (std::size_t i = n; i > 0; i -= i & (~i + 1)) {
            sum += sums_[i];
        }
        return sum;
    }

  private:
    std::vector<T> sums_;
};

// The seconds of a stretch in steps that count, given those that count as a whole.
class CountedSteps {
  public:
    explicit CountedSteps(const StepRows& steps)
        : steps_(steps), is_counted_(steps.time.size(), false), seconds_(steps.time.size()),
          numbers_(steps.time.size()) {}

    // The last step has no end: it counts in no sum, only as the piece that it is of a stretch.
    void count(std::size_t step) {
        is_counted_[step] = true;
        if (step + 1 < steps_.time.size()) {
            seconds_.add(step, steps_.time[step + 1] - steps_.time[step]);
            numbers_.add(step, 1);
        }
    }

    double seconds(double begin, double end, bool before_counts) const {
        if (!(begin < end)) {
            return 0.0;
        }
        const std::size_t from = steps_until(begin);
        const std::size_t to = steps_until(end);
        const bool first = from == 0 ? before_counts : is_counted_[from - 1];
        if (from == to) {
            return first ? end - begin : 0.0;
        }
        const bool last = is_counted_[to - 1];
        const std::size_t n_whole = numbers_.first(to - 1) - numbers_.first(from);
        if (first && last && n_whole == to - 1 - from) {
            return end - begin;
        }
        const double whole = n_whole > 0 ? seconds_.first(to - 1) - seconds_.first(from) : 0.0;
        return (first ? steps_.time[from] - begin : 0.0) + whole +
               (last ? end - steps_.time[to - 1] : 0.0);
    }

  private:
    std::size_t steps_until(double date) const {
        const auto found = std::ranges::upper_bound(steps_.time, date);
        return static_cast<std::size_t>(found - steps_.time.begin());
    }

    const StepRows& steps_;
    std::vector<bool> is_counted_;
    GrowingSums<double> seconds_;
    GrowingSums<std::size_t> numbers_;
};

// The values of a list with the least and the largest of every two, every four and so on.
class ValueTree {
  public:
    explicit ValueTree(std::span<const std::int64_t> values) {
        std::vector<Range> level(values.size());
        std::ranges::transform(values, level.begin(), [](std::int64_t v) { return Range{v, v}; });
        levels_.push_back(std::move(level));
        while (levels_.back().size() > 1) {
            levels_.push_back(halved(levels_.back()));
        }
    }

    // The first place from `from` on with at least `needed`, or with less; the number of values if
    // there is none.
    std::size_t next(std::size_t from, std::int64_t needed, bool enough) const {
        std::size_t level = 0;
        std::size_t place = from;
        while (place < levels_[level].size()) {
            const Range& range = levels_[level][place];
            if (enough ? range.largest >= needed : range.least < needed) {
                if (level == 0) {
                    return place;
                }
                --level;
                place *= 2;
                continue;
            }
            ++place;
            while (place % 2 == 0 && level + 1 < levels_.size()) {
                ++level;
                place /= 2;
            }
        }
        return levels_[0].size();
    }

  private:
    struct Range {
        std::int64_t least;
        std::int64_t largest;
    };

    static std::vector<Range> halved(const std::vector<Range>& level) {
        std::vector<Range> half((level.size() + 1) / 2);
        for (std::size_t i = 0; i < half.size(); ++i) {
            const Range& one = level[2 * i];
            const Range& other = level[std::min(2 * i + 1, level.size() - 1)];
            half[i] = {std::min(one.least, other.least), std::max(one.largest, other.largest)};
        }
        return half;
    }

    std::vector<std::vector<Range>> levels_;
};

// Which hosts are held, as a tree over blocks of them; each knows the most free ones side by side.
class Blocks {
  public:
    explicit Blocks(std::uint32_t n_hosts) : n_hosts_(n_hosts) {
        nodes_.resize(4 * std::size_t{std::max(n_hosts, 1U)});
        build(0, 0, n_hosts);
    }

    void change(std::uint32_t first, std::uint32_t last, std::int32_t n_jobs) {
        change(0, {0, n_hosts_}, {first, last}, n_jobs);
    }

    std::uint32_t largest() const { return nodes_[0].best; }

  private:
    struct Node {
        std::int32_t n_jobs = 0; // that hold all hosts of the block
        std::uint32_t left = 0;
        std::uint32_t right = 0;
        std::uint32_t best = 0;
    };

    struct Range {
        std::uint32_t first;
        std::uint32_t last; // not in it
    };

    void build(std::size_t node, std::uint32_t first, std::uint32_t last) {
        nodes_[node].left = nodes_[node].right = nodes_[node].best = last - first;
        if (last - first > 1) {
            const std::uint32_t middle = first + (last - first) / 2;
            build(2 * node + 1, first, middle);
            build(2 * node + 2, middle, last);
        }
    }

    void change(std::size_t node, Range block, Range hosts, std::int32_t n_jobs) {
        if (hosts.last <= block.first || block.last <= hosts.first) {
            return;
        }
        if (hosts.first <= block.first && block.last <= hosts.last) {
            nodes_[node].n_jobs += n_jobs;
        } else {
            const std::uint32_t middle = block.first + (block.last - block.first) / 2;
            change(2 * node + 1, {block.first, middle}, hosts, n_jobs);
            change(2 * node + 2, {middle, block.last}, hosts, n_jobs);
        }
        join(node, block);
    }

    void join(std::size_t node, Range block) {
        Node& whole = nodes_[node];
        const std::uint32_t size = block.last - block.first;
        if (whole.n_jobs > 0) {
            whole.left = whole.right = whole.best = 0;
        } else if (size == 1) {
            whole.left = whole.right = whole.best = 1;
        } else {
            const Node& low = nodes_[2 * node + 1];
            const Node& high = nodes_[2 * node + 2];
            const std::uint32_t half = size / 2;
            whole.left = low.left == half ? half + high.left : low.left;
            whole.right = high.right == size - half ? size - half + low.right : high.right;
            whole.best = std::max({low.best, high.best, low.right + high.left});
        }
    }

    std::uint32_t n_hosts_;
    std::vector<Node> nodes_;
};

} // namespace

std::vector<double> ahead_until(std::span<const double> left) {
    const std::vector<std::size_t> rows =
        sorted_rows(left.size(), [&](std::size_t a, std::size_t b) { return left[a] < left[b]; });
    std::vector<double> dates(left.size(), -infinity);
    std::vector<std::size_t> earlier; // submissions that rise, of jobs that left no later
    for (const std::size_t row : rows) {
        while (!earlier.empty() && earlier.back() > row) {
            earlier.pop_back();
        }
        if (!earlier.empty()) {
            dates[row] = left[earlier.back()];
        }
        earlier.push_back(row);
    }
    return dates;
}

std::vector<double> least_waiting(std::span<const double> dates, const WaitingRows& rows,
                                  std::span<const double> value) {
    const auto is_more = [&](std::size_t a, std::size_t b) { return value[a] > value[b]; };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(is_more)> waiting(is_more);
    std::vector<double> least;
    least.reserve(dates.size());
    std::size_t next = 0;
    for (const double date : dates) {
        for (; next < rows.submit.size() && rows.submit[next] <= date; ++next) {
            if (rows.left[next] > date) {
                waiting.push(next);
            }
        }
        while (!waiting.empty() && rows.left[waiting.top()] <= date) {
            waiting.pop();
        }
        least.push_back(waiting.empty() ? infinity : value[waiting.top()]);
    }
    return least;
}

std::vector<double> seconds_at_least(const StepRows& steps, const StretchRows& stretches) {
    const auto& needed = stretches.needed;
    const std::vector<std::size_t> order = sorted_rows(
        needed.size(), [&](std::size_t a, std::size_t b) { return needed[a] > needed[b]; });
    const std::vector<std::size_t> by_value =
        sorted_rows(steps.value.size(),
                    [&](std::size_t a, std::size_t b) { return steps.value[a] > steps.value[b]; });
    std::vector<double> seconds(needed.size(), 0.0);
    CountedSteps counted(steps);
    std::size_t next = 0;
    for (const std::size_t row : order) {
        for (; next < by_value.size() && steps.value[by_value[next]] >= needed[row]; ++next) {
            counted.count(by_value[next]);
        }
        seconds[row] =
            counted.seconds(stretches.begin[row], stretches.end[row], steps.before >= needed[row]);
    }
    return seconds;
}

Turns turns_of(const StepRows& steps, const StretchRows& stretches, std::size_t most) {
    const ValueTree tree(steps.value);
    Turns found;
    for (std::size_t row = 0; row < stretches.begin.size(); ++row) {
        const auto after = std::ranges::upper_bound(steps.time, stretches.begin[row]);
        auto next = static_cast<std::size_t>(after - steps.time.begin());
        const std::int64_t needed = stretches.needed[row];
        bool enough = (next == 0 ? steps.before : steps.value[next - 1]) >= needed;
        for (;;) {
            next = tree.next(next, needed, !enough);
            if (next == steps.time.size() || steps.time[next] >= stretches.end[row]) {
                break;
            }
            if (found.date.size() == most) {
                return found;
            }
            found.stretch.push_back(static_cast<std::int64_t>(row));
            found.date.push_back(steps.time[next]);
            enough = !enough;
        }
    }
    return found;
}

std::vector<std::int64_t> largest_free_block(std::span<const double> dates, const BlockRows& rows,
                                             std::uint32_t n_hosts) {
    struct Change {
        double date;
        std::size_t row;
        std::int32_t n_jobs;
    };
    std::vector<Change> changes;
    for (std::size_t row = 0; row < rows.start.size(); ++row) {
        if (!std::isnan(rows.start[row]) && rows.n_hosts[row] > 0) {
            changes.push_back({rows.start[row], row, 1});
            if (!std::isnan(rows.finish[row])) {
                changes.push_back({rows.finish[row], row, -1});
            }
        }
    }
    std::ranges::stable_sort(changes, {}, &Change::date);
    Blocks blocks(n_hosts);
    std::vector<std::int64_t> largest;
    largest.reserve(dates.size());
    auto next = changes.begin();
    for (const double date : dates) {
        for (; next != changes.end() && next->date <= date; ++next) {
            const std::uint32_t first = rows.first[next->row];
            blocks.change(first, first + rows.n_hosts[next->row], next->n_jobs);
        }
        largest.push_back(blocks.largest());
    }
    return largest;
}

} // namespace noctule
