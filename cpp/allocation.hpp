// Which hosts a job gets, by a rule instead of by name.
#pragma once

#include "hierarchy.hpp"

namespace noctule {

// Whether the rule finds n hosts among the free ones.
inline bool finds_hosts(Allocation allocation, std::uint32_t n, const FreeHosts& free,
                        const Hierarchy& hierarchy) {
    if (n > free.count()) {
        return false;
    }
    switch (allocation) {
    case Allocation::contiguous:
        return free.find_run(n).has_value();
    case Allocation::local:
        return hierarchy.find(free, n).has_value();
    default:
        return true;
    }
}

// Takes n hosts and calls visit(Interval) for each run of them; false if the rule finds none, which
// those that only prefer some hosts to others always do. n <= free.count()
template <typename Visit>
bool take_hosts(Allocation allocation, std::uint32_t n, FreeHosts& free, const Hierarchy& hierarchy,
                Visit&& visit) {
    const auto take = [&](Interval run) {
        free.take(run);
        visit(run);
    };
    if (allocation == Allocation::contiguous || allocation == Allocation::best_effort_contiguous) {
        if (const auto run = free.find_run(n)) {
            take(*run);
            return true;
        }
    } else if (allocation == Allocation::local || allocation == Allocation::best_effort_local) {
        if (const auto group = hierarchy.find(free, n)) {
            const HostSet hosts = free.first_of(hierarchy.hosts(*group), n);
            for (const Interval& run : hosts.intervals()) {
                take(run);
            }
            return true;
        }
    }
    if (allocation == Allocation::contiguous || allocation == Allocation::local) {
        return false;
    }
    free.take_first(n, visit);
    return true;
}

} // namespace noctule
