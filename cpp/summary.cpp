#include "summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace noctule {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool has_ended(std::uint8_t state) {
    return state >= static_cast<std::uint8_t>(JobState::completed) &&
           state <= static_cast<std::uint8_t>(JobState::failed);
}

// A sum in several lanes, so that one addition need not wait for the other; what is lost in each
// addition is added up beside it.
class Lanes {
  public:
    explicit Lanes(std::span<const double> values) {
        const std::size_t whole = values.size() - values.size() % n_lanes;
        for (std::size_t i = 0; i < whole; i += n_lanes) {
            for (std::size_t lane = 0; lane < n_lanes; ++lane) {
                add(lane, values[i + lane]);
            }
        }
        for (std::size_t i = whole; i < values.size(); ++i) {
            add(i - whole, values[i]);
        }
        for (std::size_t lane = 1; lane < n_lanes; ++lane) {
            add(0, sum_[lane]);
            lost_[0] += lost_[lane];
            error_[0] += error_[lane];
        }
        // each addition of what was lost may have lost a part of it, too
        error_[0] *= 4 * std::numeric_limits<double>::epsilon() *
                     static_cast<double>(values.size() + n_lanes);
    }

    // The exact sum, rounded once, where that is certain.
    std::optional<double> rounded() const {
        const double sum = sum_[0] + lost_[0];
        const bool is_certain =
            sum_[0] + (lost_[0] + error_[0]) == sum && sum_[0] + (lost_[0] - error_[0]) == sum;
        return is_certain ? std::optional(sum) : std::nullopt;
    }

  private:
    static constexpr std::size_t n_lanes = 4;

    void add(std::size_t lane, double value) {
        const double next = sum_[lane] + value;
        const double part = next - sum_[lane];
        const double lost = (sum_[lane] - (next - part)) + (value - part);
        lost_[lane] += lost;
        error_[lane] += std::abs(lost);
        sum_[lane] = next;
    }

    double sum_[n_lanes] = {};
    double lost_[n_lanes] = {};
    double error_[n_lanes] = {}; // what `lost_` may be wrong by
};

// Shewchuk's: partial sums that do not overlap, added up from the largest.
double sum_of_partials(std::span<const double> values) {
    std::vector<double> partials;
    double special = 0;
    for (double value : values) {
        if (!std::isfinite(value)) {
            special += value;
            continue;
        }
        std::size_t kept = 0;
        for (double partial : partials) {
            if (std::abs(value) < std::abs(partial)) {
                std::swap(value, partial);
            }
            const double high = value + partial;
            const double low = partial - (high - value);
            if (low != 0) {
                partials[kept++] = low;
            }
            value = high;
        }
        partials.resize(kept);
        partials.push_back(value);
    }
    if (special != 0 || std::isnan(special)) {
        return special;
    }
    double sum = 0;
    double rest = 0;
    while (!partials.empty() && rest == 0) {
        const double before = sum;
        const double next = partials.back();
        partials.pop_back();
        sum = before + next;
        rest = next - (sum - before);
    }
    // half-way cases are rounded to even by what lies below them
    if (!partials.empty() &&
        ((rest < 0 && partials.back() < 0) || (rest > 0 && partials.back() > 0))) {
        const double twice = rest * 2;
        const double moved = sum + twice;
        if (twice == moved - sum) {
            sum = moved;
        }
    }
    return sum;
}

double ratio(double amount, double whole) { return whole > 0 ? amount / whole : nan; }

// Percentiles in ascending order: each only looks at the values above those before it.
class Percentiles {
  public:
    explicit Percentiles(std::vector<double>& values) : values_(values) {}

    // Values between which a position falls are joined by a line, as NumPy does it.
    double at(double share) {
        const double position = share * static_cast<double>(values_.size() - 1);
        const auto below = static_cast<std::size_t>(position);
        const double part = position - static_cast<double>(below);
        const double low = placed(below);
        const double high = placed(std::min(below + 1, values_.size() - 1));
        const double step = high - low;
        return part >= 0.5 ? high - step * (1 - part) : low + step * part;
    }

  private:
    double placed(std::size_t index) {
        const auto first = values_.begin() + static_cast<std::ptrdiff_t>(n_placed_);
        const auto wanted = values_.begin() + static_cast<std::ptrdiff_t>(index);
        if (index >= n_placed_) {
            std::nth_element(first, wanted, values_.end());
            n_placed_ = index + 1;
        }
        return *wanted;
    }

    std::vector<double>& values_;
    std::size_t n_placed_ = 0; // no value after these is smaller than any of them
};

Statistics statistics_of(std::vector<double>& values) {
    if (values.empty()) {
        return {nan, nan, nan, nan, nan, nan};
    }
    const double mean = exact_sum(values) / static_cast<double>(values.size());
    Percentiles percentiles(values);
    const double median = percentiles.at(0.5);
    const double p90 = percentiles.at(0.9);
    const double p95 = percentiles.at(0.95);
    const double p99 = percentiles.at(0.99);
    return {mean, median, p90, p95, p99, *std::max_element(values.begin(), values.end())};
}

// Both ends are included; NaN if no job has ended.
struct Stretch {
    double start;
    double end;
};

Stretch whole_stretch(const JobRows& rows) {
    Stretch window{nan, nan};
    for (std::size_t i = 0; i < rows.state.size(); ++i) {
        if (has_ended(rows.state[i])) {
            window.start = std::fmin(window.start, rows.submit_time[i]);
            window.end = std::fmax(window.end, rows.finish_time[i]);
        }
    }
    return window;
}

double held_host_seconds(const JobRows& rows, const Stretch& window) {
    std::vector<double> held;
    held.reserve(rows.state.size());
    for (std::size_t i = 0; i < rows.state.size(); ++i) {
        if (std::isnan(rows.start_time[i])) {
            continue;
        }
        const double start = std::max(rows.start_time[i], window.start);
        const double end = std::fmin(rows.finish_time[i], window.end);
        held.push_back(rows.n_hosts[i] * std::max(end - start, 0.0));
    }
    return exact_sum(held);
}

double runtime_of(const JobRows& rows, std::size_t i) {
    return rows.runtime.empty() ? rows.finish_time[i] - rows.start_time[i] : rows.runtime[i];
}

struct Quantities {
    std::vector<double> waiting;
    std::vector<double> turnaround;
    std::vector<double> slowdown;
    std::vector<double> bounded;

    explicit Quantities(std::size_t n) {
        for (auto* values : {&waiting, &turnaround, &slowdown, &bounded}) {
            values->reserve(n);
        }
    }

    void add(const JobRows& rows, std::size_t i, double threshold) {
        const double runtime = runtime_of(rows, i);
        const double turned = rows.turnaround_time.empty()
                                  ? rows.finish_time[i] - rows.submit_time[i]
                                  : rows.turnaround_time[i];
        waiting.push_back(rows.waiting_time.empty() ? rows.start_time[i] - rows.submit_time[i]
                                                    : rows.waiting_time[i]);
        turnaround.push_back(turned);
        if (runtime > 0) {
            slowdown.push_back(turned / runtime);
        }
        bounded.push_back(std::max(turned / std::max(runtime, threshold), 1.0));
    }
};

} // namespace

double exact_sum(std::span<const double> values) {
    const std::optional<double> sum = Lanes(values).rounded();
    return sum ? *sum : sum_of_partials(values);
}

Summary summarise(const JobRows& rows, std::uint32_t n_hosts, double warm_up, double cool_down,
                  double threshold) {
    const Stretch whole = whole_stretch(rows);
    const Stretch window{whole.start + warm_up, whole.end - cool_down};
    const bool everything = std::isnan(whole.start) || (warm_up == 0 && cool_down == 0);
    const double length = std::max(window.end - window.start, 0.0);
    Summary summary{};
    Quantities quantities(rows.state.size());
    std::uint64_t n_ended_within = 0;
    for (std::size_t i = 0; i < rows.state.size(); ++i) {
        const bool ended = has_ended(rows.state[i]);
        if (ended && rows.finish_time[i] >= window.start && rows.finish_time[i] <= window.end) {
            ++n_ended_within;
        }
        const double submit = rows.submit_time[i];
        if (!everything && !(submit >= window.start && submit <= window.end)) {
            continue;
        }
        ++summary.n_of_state.at(rows.state[i]);
        if (ended) {
            summary.n_zero_runtime += runtime_of(rows, i) == 0 ? 1U : 0U;
            quantities.add(rows, i, threshold);
        }
    }
    summary.makespan = whole.end - whole.start;
    summary.utilisation = ratio(held_host_seconds(rows, window), n_hosts * length);
    summary.throughput = ratio(static_cast<double>(n_ended_within), length);
    summary.waiting_time = statistics_of(quantities.waiting);
    summary.turnaround_time = statistics_of(quantities.turnaround);
    summary.slowdown = statistics_of(quantities.slowdown);
    summary.bounded_slowdown = statistics_of(quantities.bounded);
    return summary;
}

} // namespace noctule
