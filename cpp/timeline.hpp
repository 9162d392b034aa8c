// Free hosts over future time: what conservative backfilling plans on.
//
// Timelines with one interface: one counts hosts, which is exact where any hosts will do, another
// counts them by group, for jobs that stay in one. Jobs that need neighbours have a HostTimeline.
#pragma once

#include "hierarchy.hpp"
#include "types.hpp"

#include <vector>

namespace noctule {

// A place in time, and on the hosts where they matter.
struct Slot {
    double start = infinity;
    Interval hosts{0, 0};
    Hierarchy::Group group = 0;
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

    friend class GroupTimeline;

    // The first instant from which so many hosts are free, for the walltime or until a date; some
    // instant that is not before `before` if there is none before it.
    double first_fit(std::uint32_t n_hosts, double walltime, double before, double until) const;

    // Moves hosts from a start to an earlier one.
    void move(std::uint32_t n_hosts, double walltime, double from, double to);

    std::vector<Step> steps_; // never empty
};

class GroupTimeline {
  public:
    explicit GroupTimeline(const Hierarchy& hierarchy);

    void advance(double now);
    Slot earliest(std::uint32_t n_hosts, double walltime) const;
    bool hasten(std::uint32_t n_hosts, double walltime, Slot& held);
    void take(std::uint32_t n_hosts, const Slot& slot, double from, double to);
    void give(std::uint32_t n_hosts, const Slot& slot, double from, double to);

  private:
    struct Group {
        std::uint32_t size;
        CountTimeline timeline;
    };

    std::vector<Group> groups_;
};

} // namespace noctule
