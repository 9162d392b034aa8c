// Free hosts over future time: what conservative backfilling plans on.
//
// Two timelines with one interface: one counts hosts, which is exact where any hosts will do; the
// other knows which hosts, for jobs that need neighbours.
#pragma once

#include "free_hosts.hpp"
#include "types.hpp"

#include <vector>

namespace noctule {

// A place in time, and on the hosts where they matter.
struct Slot {
    double start = infinity;
    Interval hosts{0, 0};
};

class CountTimeline {
  public:
    explicit CountTimeline(std::uint32_t n_hosts) : steps_{{0.0, n_hosts}} {}

    // Forgets what lies before this instant.
    void advance(double now);

    // The earliest slot from the beginning of the timeline on.
    Slot earliest(std::uint32_t n_hosts, double walltime) const;

    // Moves a job to an earlier slot than the one it holds, if there is one.
    bool hasten(std::uint32_t n_hosts, double walltime, Slot& held);

    // Takes hosts in [from, to), or gives them back; the part before the beginning is left out.
    void take(std::uint32_t n_hosts, const Slot& slot, double from, double to);
    void give(std::uint32_t n_hosts, const Slot& slot, double from, double to);

  private:
    struct Step {
        double time;
        std::uint32_t free; // hosts, until the next step
    };

    // The first instant from which so many hosts are free, until the walltime or this date.
    double first_fit(std::uint32_t n_hosts, double walltime, double before) const;

    std::vector<Step> steps_; // never empty
};

class HostTimeline {
  public:
    explicit HostTimeline(std::uint32_t n_hosts)
        : steps_{{0.0, FreeHosts(n_hosts)}}, common_(n_hosts) {}

    void advance(double now);
    Slot earliest(std::uint32_t n_hosts, double walltime);
    bool hasten(std::uint32_t n_hosts, double walltime, Slot& held);
    void take(std::uint32_t n_hosts, const Slot& slot, double from, double to);
    void give(std::uint32_t n_hosts, const Slot& slot, double from, double to);

  private:
    struct Step {
        double time;
        FreeHosts free;
    };

    Slot first_fit(std::uint32_t n_hosts, double walltime, double before);

    std::vector<Step> steps_;
    FreeHosts common_; // free during a whole slot: kept to save allocations
};

} // namespace noctule
