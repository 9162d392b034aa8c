// When users work: what is due at another time waits until they do.
#pragma once

#include "types.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace noctule {

class Calendar {
  public:
    virtual ~Calendar() = default;

    // The first date, not before the given one, at which the user begins that group of jobs.
    virtual double next(std::uint32_t user, std::uint32_t group, double date) const = 0;
};

// The user's recorded sessions, from the first to the last submission; after the last one, any
// date.
class RecordedPeriods final : public Calendar {
  public:
    struct Period {
        double from;
        double to;
    };

    // Those of each user are sorted and do not overlap.
    RecordedPeriods(std::vector<std::uint32_t> first_of_user, std::vector<Period> periods)
        : first_(std::move(first_of_user)), periods_(std::move(periods)) {}

    double next(std::uint32_t user, std::uint32_t group, double date) const override;

  private:
    std::vector<std::uint32_t> first_; // by user, and one more
    std::vector<Period> periods_;
};

// Hours of the week in which users work with some probability, each of them drawn on its own. A
// group that comes in its recorded hour of the week finds its user at work.
class WeeklyHours final : public Calendar {
  public:
    static constexpr std::size_t n_hours = 168;
    using Week = std::array<double, n_hours>; // probabilities, one of them 1

    // From changes[i] on, time t is second t + shifts[i] of some Monday.
    struct Clock {
        std::vector<double> changes; // the first is minus infinity
        std::vector<double> shifts;
    };

    WeeklyHours(Clock clock, std::vector<Week> weeks, std::vector<std::uint32_t> week_of_user,
                std::vector<double> start_of_group, std::uint64_t seed);

    double next(std::uint32_t user, std::uint32_t group, double date) const override;

  private:
    std::int64_t hour(double date) const; // on the clock, since some Monday
    double end_of_hour(double date) const;
    bool is_at_work(std::uint32_t user, std::int64_t hour) const;

    Clock clock_;
    std::vector<Week> weeks_;
    std::vector<std::uint32_t> week_of_user_;
    std::vector<std::uint8_t> recorded_hour_; // of the week, by group
    std::uint64_t seed_;
};

} // namespace noctule
