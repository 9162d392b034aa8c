// An energy budget: joules released bit by bit between two dates, what is left of them now, and
// what will be left if jobs run to their walltimes.
//
// Watts are estimated by the number of hosts that jobs hold. Jobs end and, without new ones, the
// watts only ever fall: the balance of a forecast is a convex function of time, whose least value
// is where the watts come down to the rate. So a job is tested by two searches, however many run.
#pragma once

#include "releases.hpp"

#include <cstdint>
#include <vector>

namespace noctule {

struct EnergyBudget {
    double joules;
    double start;
    double end;
    double idle_watts;      // of a host, estimated
    double computing_watts; // the same, of one that a job holds

    double rate() const { return joules / (end - start); } // joules released a second
    double watts(double n_hosts, double n_held) const {
        return idle_watts * n_hosts + extra_watts(n_held);
    }
    double extra_watts(double n_held) const { return (computing_watts - idle_watts) * n_held; }
    double floor(double n_hosts) const { return idle_watts * n_hosts * (end - start); }

    // Seconds of a job between the two dates.
    double seconds_inside(double from, double walltime) const;
};

// Energy released since the budget began, less what was spent since: estimated, and set right
// whenever it is measured. Nothing is released before the budget begins, or after it ends.
class EnergyCounter {
  public:
    explicit EnergyCounter(const EnergyBudget& budget) : budget_(budget) {}

    void advance(double now);                   // at the watts told last
    void draw(double watts) { watts_ = watts; } // estimated, from now on
    void measure(double now, double joules);    // spent since the run began; first when it begins
    double available() const { return available_; } // negative: a debt
    double measured() const { return measured_; }   // spent since the budget began, when last told

  private:
    EnergyBudget budget_;
    double now_ = 0.0;
    double watts_ = 0.0;
    double available_ = 0.0;
    double measured_ = not_a_time;
    double joules_at_start_ = not_a_time;
};

class EnergyForecast {
  public:
    EnergyForecast(const EnergyBudget& budget, std::uint32_t n_hosts)
        : budget_(budget), n_hosts_(n_hosts) {}

    // What will be left, from now or from the beginning of the budget to its end. now < end
    void begin(double now, double available, const Releases& releases);

    // A job that was started now and holds hosts until a date.
    void add(std::uint32_t n_hosts, double until);

    // Whether a job that starts then leaves no debt, until it and those that run have ended, with
    // so many joules kept for another. What lies outside of the budget's time costs nothing.
    bool affords(double start, std::uint32_t n_hosts, double walltime, double reserved = 0.0) const;

    // The first date from this one on at which a job is affordable; the end if there is none
    // before.
    double first_affordable(double start, std::uint32_t n_hosts, double walltime) const;

    // Whether watts stay so much below the rate from a date on, with a job that starts then.
    bool keeps_rate(double start, std::uint32_t n_hosts, double walltime, double less = 0.0) const;

    // The first date from this one on at which that is so; the end if there is none before.
    double first_below_rate(double start, std::uint32_t n_hosts, double walltime) const;

    // Watts that may be added at a date before the rate is reached; negative above it.
    double watts_left(double time) const;

  private:
    struct Point {
        double time;
        double balance; // joules
        double slope;   // watts left, until the next point
    };

    bool is_outside(double start, double walltime) const {
        return start >= budget_.end || start + walltime <= budget_.start;
    }
    std::size_t point_at(double time) const;
    double balance_at(double time) const;

    // The least of balance - watts * (time - from) between two dates.
    double least(double watts, double from, double to) const;
    double tolerance() const;

    EnergyBudget budget_;
    double n_hosts_;
    std::vector<Point> points_; // by time; the last one is at the end of the budget
    double last_end_ = 0.0;     // of a running job
};

} // namespace noctule
