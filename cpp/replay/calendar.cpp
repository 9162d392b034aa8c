#include "replay/calendar.hpp"

#include <algorithm>
#include <cmath>

namespace noctule {

namespace {

constexpr double seconds_an_hour = 3600.0;

std::size_t of_week(std::int64_t hour) {
    constexpr auto n_hours = static_cast<std::int64_t>(WeeklyHours::n_hours);
    return static_cast<std::size_t>(((hour % n_hours) + n_hours) % n_hours);
}

// Steele, Lea and Flood's SplitMix64: what is drawn for one thing depends on no other draw.
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

// From 0 on and below 1.
double drawn(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(mixed(mixed(mixed(seed) ^ a) ^ b) >> 11) * 0x1p-53;
}

// Users are numbered from 0 on: this one draws for groups.
constexpr std::uint64_t nobody = ~std::uint64_t{0};

} // namespace

double RecordedPeriods::next(std::uint32_t user, std::uint32_t, double date) const {
    const auto begin = periods_.begin() + first_[user], end = periods_.begin() + first_[user + 1];
    const auto period =
        std::lower_bound(begin, end, date, [](const Period& p, double t) { return p.to < t; });
    return period == end ? date : std::max(date, period->from);
}

WeeklyHours::WeeklyHours(Clock clock, std::vector<Week> weeks,
                         std::vector<std::uint32_t> week_of_user,
                         std::vector<double> start_of_group, std::uint64_t seed)
    : clock_(std::move(clock)), weeks_(std::move(weeks)), week_of_user_(std::move(week_of_user)),
      seed_(seed) {
    for (const double start : start_of_group) {
        recorded_hour_.push_back(static_cast<std::uint8_t>(of_week(hour(start))));
    }
}

std::int64_t WeeklyHours::hour(double date) const {
    const auto next = std::upper_bound(clock_.changes.begin(), clock_.changes.end(), date);
    const double shift = clock_.shifts[static_cast<std::size_t>(next - clock_.changes.begin()) - 1];
    return static_cast<std::int64_t>(std::floor((date + shift) / seconds_an_hour));
}

double WeeklyHours::end_of_hour(double date) const {
    const auto next = std::upper_bound(clock_.changes.begin(), clock_.changes.end(), date);
    const double shift = clock_.shifts[static_cast<std::size_t>(next - clock_.changes.begin()) - 1];
    const double end =
        (std::floor((date + shift) / seconds_an_hour) + 1.0) * seconds_an_hour - shift;
    return next == clock_.changes.end() ? end : std::min(end, *next);
}

bool WeeklyHours::is_at_work(std::uint32_t user, std::int64_t hour) const {
    const double probability = weeks_[week_of_user_[user]][of_week(hour)];
    return probability >= 1.0 || drawn(seed_, user, static_cast<std::uint64_t>(hour)) < probability;
}

double WeeklyHours::next(std::uint32_t user, std::uint32_t group, double date) const {
    double from = date;
    std::int64_t now = hour(from);
    while (of_week(now) != recorded_hour_[group] && !is_at_work(user, now)) {
        from = end_of_hour(from);
        now = hour(from);
    }
    if (from == date) {
        return date;
    }
    const double whole_seconds = std::floor(drawn(seed_, nobody, group) * seconds_an_hour);
    return std::min(from + whole_seconds, std::max(from, end_of_hour(from) - 1.0));
}

} // namespace noctule
