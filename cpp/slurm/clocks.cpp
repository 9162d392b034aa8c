#include "slurm/clocks.hpp"

#include "types.hpp"

#include <algorithm>
#include <cmath>

namespace noctule::slurm {

namespace {

constexpr double limit_period = 30.0;
constexpr double before_all_times = -1e9;
constexpr double farthest_look = 0.5;  // from where a sleep would end
constexpr double farthest_check = 1.5; // from the tick where one is due

// The given date that is nearest to another one, or that one if there is none so near.
double nearest(const std::vector<double>& given, double date, double farthest) {
    double found = date;
    double distance = farthest;
    for (auto at = std::ranges::lower_bound(given, date - farthest);
         at != given.end() && *at <= date + farthest; ++at) {
        if (std::abs(*at - date) <= distance) {
            distance = std::abs(*at - date);
            found = *at;
        }
    }
    return found;
}

} // namespace

TickGrid::TickGrid(const Drive& drive)
    : given_(drive.ticks), origin_(given_.empty() ? drive.first_tick : given_.back()),
      period_(drive.tick_period) {}

double TickGrid::at_or_after(double date) const {
    if (!given_.empty() && date <= given_.back()) {
        return *std::ranges::lower_bound(given_, date);
    }
    const double n = std::max(0.0, std::ceil((date - origin_) / period_));
    double tick = origin_ + n * period_;
    if (tick < date) {
        tick = origin_ + (n + 1) * period_;
    } else if (n >= 1 && origin_ + (n - 1) * period_ >= date) {
        tick = origin_ + (n - 1) * period_;
    }
    return tick;
}

double TickGrid::after(double date) const { return at_or_after(std::nextafter(date, infinity)); }

MainClock::MainClock(const Drive& drive, const Parameters& parameters)
    : grid_(drive), sched_interval_(parameters.sched_interval),
      delay_(parameters.batch_sched_delay), last_sched_(before_all_times),
      last_full_(std::floor(drive.first_full) - static_cast<double>(sched_interval_)) {}

void MainClock::request(double now) {
    if (requested_ < 0) {
        requested_ = now;
    }
}

MainClock::Pass MainClock::next() const {
    if (sched_interval_ < 0) {
        return {infinity, true};
    }
    const double full = grid_.at_or_after(last_full_ + static_cast<double>(sched_interval_));
    if (requested_ >= 0) {
        const double quick =
            grid_.at_or_after(std::max(requested_, last_sched_ + static_cast<double>(delay_)));
        if (quick < full) {
            return {quick, false};
        }
    }
    return {full, true};
}

void MainClock::ran(const Pass& pass) {
    last_sched_ = std::floor(pass.time);
    if (pass.full) {
        last_full_ = last_sched_;
    }
    requested_ = -1.0;
}

void MainClock::skip_until(double date) {
    for (Pass pass = next(); pass.time < date; pass = next()) {
        ran(pass);
    }
}

LimitClock::LimitClock(const Drive& drive)
    : grid_(drive), given_(drive.limit_checks),
      check_(nearest(given_, grid_.at_or_after(drive.first_limit_check), farthest_check)) {}

double LimitClock::first_from(double date) {
    while (check_ < date) {
        const double next = grid_.at_or_after(std::floor(check_) + limit_period);
        check_ = nearest(given_, next, farthest_check);
    }
    return check_;
}

BackfillClock::BackfillClock(const Drive& drive, const Parameters& parameters)
    : interval_(parameters.bf_interval), overhead_(drive.backfill_overhead), looks_(drive.looks),
      wake_(drive.first_backfill), last_(-infinity) {}

double BackfillClock::next(double last_update) {
    if (interval_ < 0 || last_update < last_) {
        return infinity;
    }
    const double due = last_ + static_cast<double>(interval_);
    return wake_ >= due ? wake_ : wake_ + std::ceil(due - wake_);
}

void BackfillClock::ran(double begin, double end) {
    last_ = std::floor(end);
    wake_near(std::max(begin, end) + static_cast<double>(interval_) + overhead_);
}

// Sleeps last a little longer or shorter than planned: until the given look nearest to it.
void BackfillClock::wake_near(double date) { wake_ = nearest(looks_, date, farthest_look); }

void BackfillClock::look_until(double date, double last_update) {
    if (wake_ < date && last_update < last_) {
        wake_near(wake_ + std::ceil(date - wake_));
    }
}

void BackfillClock::looked(double date) { wake_near(date + 1.0); }

void BackfillClock::skip_until(double date, double last_update) {
    for (double time = next(last_update); time < date; time = next(last_update)) {
        ran(time, time);
    }
    look_until(date, last_update);
}

} // namespace noctule::slurm
