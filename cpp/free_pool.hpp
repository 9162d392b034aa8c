// The free hosts of a run, told apart by what they do where jobs may wake them.
//
// A rule takes hosts that are awake before those that are being switched on, then those that are
// asleep, then those that are being switched off; each by the lowest ids.
#pragma once

#include "allocation.hpp"

#include <vector>

namespace noctule {

class FreePool {
  public:
    explicit FreePool(std::uint32_t n_hosts) : all_(n_hosts) {} // all free and awake

    // From now on hosts need not be awake to be free.
    void tell_phases_apart();

    const FreeHosts& all() const { return all_; }
    const FreeHosts& awake() const { return by_phase_.empty() ? all_ : of(HostPhase::awake); }
    std::uint32_t count() const { return all_.count(); }
    std::uint32_t n_hosts() const { return all_.n_hosts(); }
    bool contains(HostId host) const { return all_.contains(host); }

    // Every host of the interval must be free, and none, respectively.
    void take(Interval interval);
    void give(Interval interval, HostPhase phase = HostPhase::awake) {
        all_.give(interval);
        if (!by_phase_.empty()) {
            of(phase).give(interval);
        }
    }
    // A host that may be free does something else.
    void change(HostId host, HostPhase from, HostPhase to);

    // As take_hosts() does; n <= count().
    template <typename Visit>
    bool take(Allocation allocation, std::uint32_t n, const Hierarchy& hierarchy, Visit&& visit);

    // Those n hosts of the set that a rule would take first; they must be there.
    HostSet first_of(const HostSet& among, std::uint32_t n) const;

  private:
    const FreeHosts& of(HostPhase phase) const {
        return by_phase_[static_cast<std::size_t>(phase)];
    }
    FreeHosts& of(HostPhase phase) { return by_phase_[static_cast<std::size_t>(phase)]; }
    bool choose(Allocation allocation, std::uint32_t n, const Hierarchy& hierarchy,
                HostSet& hosts) const;

    FreeHosts all_;
    std::vector<FreeHosts> by_phase_; // failed hosts are never free; empty if all are awake
};

template <typename Visit>
bool FreePool::take(Allocation allocation, std::uint32_t n, const Hierarchy& hierarchy,
                    Visit&& visit) {
    if (by_phase_.empty()) {
        return take_hosts(allocation, n, all_, hierarchy, visit);
    }
    if (allocation == Allocation::first && n <= awake().count()) {
        of(HostPhase::awake).take_first(n, [&](Interval run) {
            all_.take(run);
            visit(run);
        });
        return true;
    }
    HostSet hosts;
    if (!choose(allocation, n, hierarchy, hosts)) {
        return false;
    }
    for (const Interval& run : hosts.intervals()) {
        take(run);
        visit(run);
    }
    return true;
}

} // namespace noctule
