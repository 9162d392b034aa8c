#include "load_history.hpp"

#include "load_horizon.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace noctule {

namespace {

struct Change {
    enum class Kind : std::uint8_t { idle, waking, awake, finish, start, submission };

    double time;
    Kind kind;
    std::size_t row;
};

std::vector<Change> changes_of(const LoadRows& rows) {
    using Kind = Change::Kind;
    std::vector<Change> changes;
    const auto add = [&](std::span<const double> times, Kind kind) {
        for (std::size_t row = 0; row < times.size(); ++row) {
            if (!std::isnan(times[row])) {
                changes.push_back({times[row], kind, row});
            }
        }
    };
    // A job that does all this at one instant does it in this order.
    add(rows.submit_time, Kind::submission);
    add(rows.start_time, Kind::start);
    add(rows.finish_time, Kind::finish);
    add(rows.idle_time, Kind::idle);
    add(rows.waking_begin, Kind::waking);
    add(rows.waking_end, Kind::awake);
    std::ranges::stable_sort(changes, {}, &Change::time);
    return changes;
}

class Sweep {
  public:
    explicit Sweep(const LoadRows& rows) : rows_(rows) {}

    void apply(const Change& change) {
        const std::size_t row = change.row;
        switch (change.kind) {
        case Change::Kind::idle:
            n_idle_ = rows_.n_idle[row];
            break;
        case Change::Kind::waking:
            come(rows_.waking_end[row], rows_.n_waking[row]);
            break;
        case Change::Kind::awake:
            come(rows_.waking_end[row], -std::int64_t{rows_.n_waking[row]});
            break;
        case Change::Kind::finish:
            come(rows_.start_time[row] + rows_.walltime[row], -std::int64_t{rows_.n_hosts[row]});
            break;
        case Change::Kind::start:
            come(rows_.start_time[row] + rows_.walltime[row], rows_.n_hosts[row]);
            wait(row, -1);
            break;
        case Change::Kind::submission:
            wait(row, 1);
            break;
        }
    }

    void restart(LoadHorizon& horizon, double now) {
        steps_.clear();
        if (n_waiting_ > 0) {
            for (const auto& [time, n] : coming_) {
                steps_.push_back({time, static_cast<std::uint32_t>(n)});
            }
        }
        const double load = n_endless_ > 0 ? infinity : load_;
        horizon.restart(now, n_waiting_ > 0 ? load : 0.0, n_idle_, steps_);
    }

  private:
    void come(double time, std::int64_t n) {
        if (time < infinity && (coming_[time] += n) == 0) {
            coming_.erase(time);
        }
    }

    void wait(std::size_t row, int sign) {
        n_waiting_ += sign;
        if (rows_.walltime[row] == infinity) {
            n_endless_ += sign;
        } else {
            load_ += sign * (rows_.n_hosts[row] * rows_.walltime[row]);
        }
        load_ = n_waiting_ == n_endless_ ? 0.0 : load_; // sums of fractions leave some
    }

    const LoadRows& rows_;
    std::map<double, std::int64_t> coming_;
    std::vector<ComingHosts> steps_;
    double load_ = 0.0;
    std::int64_t n_waiting_ = 0;
    std::int64_t n_endless_ = 0;
    std::uint32_t n_idle_ = 0;
};

} // namespace

LoadHistory load_history(const LoadRows& rows) {
    LoadHistory history;
    LoadHorizon horizon;
    Sweep sweep(rows);
    const std::vector<Change> changes = changes_of(rows);
    for (std::size_t i = 0; i < changes.size();) {
        const double now = changes[i].time;
        for (; i < changes.size() && changes[i].time == now; ++i) {
            sweep.apply(changes[i]);
        }
        if (!history.time.empty()) {
            const double begin = history.time.back();
            history.mean.push_back(horizon.advance(now) / (now - begin));
        }
        history.time.push_back(now);
        sweep.restart(horizon, now);
    }
    if (!history.time.empty()) {
        history.mean.push_back(horizon.value());
    }
    return history;
}

} // namespace noctule
