// Which hosts will be free, by name, where windows of time close some of them: what policies plan
// on there.
//
// Jobs occupy hosts in steps of time. Windows stand beside the steps, since a reservation closes
// its hosts to all jobs but its own.
#pragma once

#include "hierarchy.hpp"
#include "windows.hpp"

#include <optional>
#include <span>
#include <vector>

namespace noctule {

// Whether a window that is known closes its hosts to others at some time between two dates.
inline bool closes(const TimeWindow& window, double from, double to) {
    return window.is_known() && window.from < to && window.to > from;
}

class HostPlan {
  public:
    // All hosts are free from `now` on; windows that are not known are left out.
    HostPlan(double now, const Hierarchy& hierarchy, std::uint32_t n_hosts,
             std::span<const TimeWindow> windows, Allocation allocation);

    struct Request {
        std::uint32_t n_hosts;
        double walltime;
        WindowIndex reservation;
    };
    struct Place {
        double start = infinity;
        HostSet hosts = {};
    };

    // Hosts in [from, to); the part before the beginning is left out. Taking may find them taken.
    void take(const HostSet& hosts, double from, double to);
    void give(const HostSet& hosts, double from, double to);

    // The earliest place that begins before a date.
    Place earliest(const Request& request, double before = infinity) const;

  private:
    struct Step {
        double time;
        FreeHosts free; // until the next step
    };

    std::size_t index_at(double time) const;
    std::size_t step_at(double time);
    template <typename Change> void change(double from, double to, Change&& change);

    // What is open to a job from a date on, for as long as it may run; too few hosts mean none.
    FreeHosts open_to(const Request& request, double start, FreeHosts hosts) const;
    std::vector<double> starts(const Request& request, double before) const;
    HostSet choose(FreeHosts among, std::uint32_t n) const;

    const Hierarchy& hierarchy_;
    std::span<const TimeWindow> windows_;
    Allocation allocation_;
    std::vector<Step> steps_; // never empty
};

} // namespace noctule
