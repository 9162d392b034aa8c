// When schedulers run: the background loop that wakes about every second, and the backfill thread.
//
// Ticks are arithmetic: dates are computed when somebody asks, nothing happens in between.
#pragma once

#include "slurm/settings.hpp"
#include "slurm/statistics.hpp"

#include <vector>

namespace noctule::slurm {

// How the clocks of a run are driven; dates are those of the run.
struct Drive {
    enum class Mode : std::uint8_t { passes, clocks, bsc };
    struct Pass {
        double time;
        PassKind kind;
    };

    Mode mode = Mode::clocks;
    std::vector<Pass> passes = {}; // given ones, in order: nothing else runs

    std::vector<double> ticks = {}; // given ones, in order; then one every period
    double first_tick = 0.0;        // if none is given
    double tick_period = 1.0;
    double first_backfill = 0.0;           // the first look of the thread
    std::vector<double> looks = {};        // given ones, in order: its sleeps end there if near
    double first_full = 0.0;               // no full pass before this date
    double first_limit_check = 0.0;        // no check of time limits before it
    std::vector<double> limit_checks = {}; // given ones, in order: checks are there if near
    double backfill_overhead = 0.003; // seconds that a sleep of the thread is longer than asked
    double kill_latency = 0.035;      // from a kill to the pass that follows it
    bool enforces_limits = true;
};

// The instants at which the background loop wakes.
class TickGrid {
  public:
    explicit TickGrid(const Drive& drive);

    // The first tick at or after a date, and strictly after.
    double at_or_after(double date) const;
    double after(double date) const;

  private:
    std::vector<double> given_;
    double origin_;
    double period_;
};

class MainClock {
  public:
    struct Pass {
        double time;
        bool full;
    };

    MainClock(const Drive& drive, const Parameters& parameters);

    // Something asks for a pass.
    void request(double now);
    // What runs next: a full pass is always due some time. Infinite if there is no main scheduler.
    Pass next() const;
    void ran(const Pass& pass);
    // Passes without jobs until a date: nobody has to watch them.
    void skip_until(double date);

  private:
    TickGrid grid_;
    Seconds sched_interval_;
    Seconds delay_;
    double requested_ = -1.0; // since when there is a request; negative: none
    double last_sched_;       // whole seconds, as Slurm compares them
    double last_full_;
};

// The checks of time limits, each thirty seconds at a tick.
class LimitClock {
  public:
    explicit LimitClock(const Drive& drive);

    // The first check at or after a date; dates must not go back.
    double first_from(double date);

  private:
    TickGrid grid_;
    std::vector<double> given_;
    double check_;
};

class BackfillClock {
  public:
    BackfillClock(const Drive& drive, const Parameters& parameters);

    // When the thread will run, with the last second in which anything changed; infinite if
    // something has to change first. All in the time of the run.
    double next(double last_update);
    void ran(double begin, double end);
    // At a date something else than the interval held it back: it looks again a second later.
    void looked(double date);
    // Looks in vain until a date.
    void look_until(double date, double last_update);
    // The same, with passes that find no jobs.
    void skip_until(double date, double last_update);

  private:
    void wake_near(double date);

    Seconds interval_;
    double overhead_;
    std::vector<double> looks_;
    double wake_;
    double last_; // whole second in which the last pass ended
};

} // namespace noctule::slurm
