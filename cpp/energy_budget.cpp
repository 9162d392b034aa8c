#include "energy_budget.hpp"

#include <algorithm>
#include <cmath>

namespace noctule {

namespace {

// Joules and watts that are equal but for rounding are not a debt.
constexpr double precision = 1e-9;

} // namespace

double EnergyBudget::seconds_inside(double from, double walltime) const {
    return std::max(0.0, std::min(from + walltime, end) - std::max(from, start));
}

void EnergyCounter::advance(double now) {
    const double from = std::clamp(now_, budget_.start, budget_.end);
    const double to = std::clamp(now, budget_.start, budget_.end);
    available_ += (budget_.rate() - watts_) * (to - from);
    now_ = now;
}

void EnergyCounter::measure(double now, double joules) {
    if (std::isnan(joules_at_start_)) {
        joules_at_start_ = joules;
    }
    measured_ = joules - joules_at_start_;
    available_ = budget_.rate() * (now - budget_.start) - measured_;
}

void EnergyForecast::begin(double now, double available, const Releases& releases) {
    const double from = std::max(now, budget_.start);
    points_.clear();
    last_end_ = from;
    double held = 0.0;
    releases.for_each([&](const Release& release) {
        if (release.time > from) {
            held += release.n_hosts;
            last_end_ = release.time;
        }
    });
    last_end_ = std::min(last_end_, budget_.end);
    points_.push_back({from, available, budget_.rate() - budget_.watts(n_hosts_, held)});
    releases.for_each([&](const Release& release) {
        if (release.time <= from || release.time >= budget_.end) {
            return;
        }
        held -= release.n_hosts;
        const double slope = budget_.rate() - budget_.watts(n_hosts_, held);
        Point& last = points_.back();
        if (release.time == last.time) {
            last.slope = slope;
        } else {
            const double balance = last.balance + last.slope * (release.time - last.time);
            points_.push_back({release.time, balance, slope});
        }
    });
    points_.push_back({budget_.end, balance_at(budget_.end), 0.0});
}

void EnergyForecast::add(std::uint32_t n_hosts, double until) {
    if (until <= budget_.start) {
        return;
    }
    const double begin = points_.front().time;
    const double end = std::min(until, budget_.end);
    const double watts = budget_.extra_watts(n_hosts);
    if (end < budget_.end) {
        const std::size_t i = point_at(end);
        if (points_[i].time < end) {
            const Point inserted{end, balance_at(end), points_[i].slope};
            points_.insert(points_.begin() + static_cast<std::ptrdiff_t>(i) + 1, inserted);
        }
    }
    for (Point& point : points_) {
        point.balance -= watts * (std::min(point.time, end) - begin);
        if (point.time < end) {
            point.slope -= watts;
        }
    }
    last_end_ = std::max(last_end_, end);
}

bool EnergyForecast::affords(double start, std::uint32_t n_hosts, double walltime,
                             double reserved) const {
    if (is_outside(start, walltime)) {
        return true;
    }
    const double watts = budget_.extra_watts(n_hosts);
    const double begin = std::max(start, points_.front().time);
    const double end = std::min(start + walltime, budget_.end);
    double left = least(watts, begin, end);
    if (end < last_end_) {
        left = std::min(left, least(0.0, end, last_end_) - watts * (end - begin));
    }
    return left - reserved >= -tolerance();
}

// A job that is too dear now is so until the balance has grown, and affordable from then on: at
// each date the job must have drawn no more than what is there. It draws `whole` joules in all.
double EnergyForecast::first_affordable(double start, std::uint32_t n_hosts,
                                        double walltime) const {
    if (affords(start, n_hosts, walltime)) {
        return start;
    }
    if (budget_.rate() < budget_.watts(n_hosts_, 0)) {
        return budget_.end; // the balance never grows
    }
    const double watts = budget_.extra_watts(n_hosts);
    const double whole = watts * walltime;
    double date = std::max(start, points_.front().time);
    const auto meet = [&](double time, double balance) {
        if (balance <= whole) {
            date = std::max(date, time - std::max(balance, 0.0) / watts);
        }
    };
    for (std::size_t i = 0; i + 1 < points_.size(); ++i) {
        const Point& point = points_[i];
        const double next = points_[i + 1].balance;
        meet(point.time, point.balance);
        for (const double level : {0.0, whole}) {
            if (point.balance < level && level < next) {
                meet(point.time + (level - point.balance) / point.slope, level);
            }
        }
        meet(points_[i + 1].time, next);
    }
    return std::min(date, budget_.end);
}

bool EnergyForecast::keeps_rate(double start, std::uint32_t n_hosts, double walltime,
                                double less) const {
    return is_outside(start, walltime) ||
           watts_left(start) - less - budget_.extra_watts(n_hosts) >= -precision * budget_.rate();
}

double EnergyForecast::first_below_rate(double start, std::uint32_t n_hosts,
                                        double walltime) const {
    if (keeps_rate(start, n_hosts, walltime)) {
        return start;
    }
    for (const Point& point : points_) {
        if (point.time > start && keeps_rate(point.time, n_hosts, walltime)) {
            return point.time;
        }
    }
    return budget_.end;
}

double EnergyForecast::watts_left(double time) const { return points_[point_at(time)].slope; }

std::size_t EnergyForecast::point_at(double time) const {
    const auto after = std::upper_bound(points_.begin() + 1, points_.end(), time,
                                        [](double t, const Point& p) { return t < p.time; });
    return static_cast<std::size_t>(after - points_.begin()) - 1;
}

double EnergyForecast::balance_at(double time) const {
    const Point& point = points_[point_at(time)];
    return point.balance + point.slope * (time - point.time);
}

double EnergyForecast::least(double watts, double from, double to) const {
    const auto turn = std::partition_point(points_.begin(), points_.end() - 1,
                                           [&](const Point& p) { return p.slope < watts; });
    const double time = std::clamp(turn->time, from, to);
    return balance_at(time) - watts * (time - from);
}

double EnergyForecast::tolerance() const { return precision * budget_.joules; }

} // namespace noctule
