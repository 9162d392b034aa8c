#include "free_pool.hpp"

#include <algorithm>
#include <array>

namespace noctule {

namespace {

// The sooner a host can be awake, the better.
constexpr std::array<HostPhase, 4> by_preference{HostPhase::awake, HostPhase::switching_on,
                                                 HostPhase::asleep, HostPhase::switching_off};

} // namespace

void FreePool::tell_phases_apart() {
    FreeHosts none(n_hosts());
    none.exclude({0, n_hosts() - 1});
    by_phase_.assign(by_preference.size(), none);
    of(HostPhase::awake) = all_;
}

void FreePool::take(Interval interval) {
    all_.take(interval);
    if (by_phase_.empty()) {
        return;
    }
    if (awake().contains(interval)) {
        of(HostPhase::awake).take(interval);
        return;
    }
    for (FreeHosts& hosts : by_phase_) {
        hosts.exclude(interval);
    }
}

void FreePool::change(HostId host, HostPhase from, HostPhase to) {
    if (!by_phase_.empty() && contains(host)) {
        of(from).take({host, host});
        of(to).give({host, host});
    }
}

bool FreePool::choose(Allocation allocation, std::uint32_t n, const Hierarchy& hierarchy,
                      HostSet& hosts) const {
    if (allocation == Allocation::contiguous || allocation == Allocation::best_effort_contiguous) {
        const auto ready = awake().find_run(n);
        if (const auto run = ready ? ready : all_.find_run(n)) {
            hosts.append(*run);
            return true;
        }
    } else if (allocation == Allocation::local || allocation == Allocation::best_effort_local) {
        const auto ready = hierarchy.find(awake(), n);
        if (const auto group = ready ? ready : hierarchy.find(all_, n)) {
            hosts = first_of(hierarchy.hosts(*group), n);
            return true;
        }
    }
    if (allocation == Allocation::contiguous || allocation == Allocation::local) {
        return false;
    }
    hosts = first_of(HostSet::from_intervals({{0, n_hosts() - 1}}), n);
    return true;
}

HostSet FreePool::first_of(const HostSet& among, std::uint32_t n) const {
    if (by_phase_.empty()) {
        return all_.first_of(among, n);
    }
    HostSet hosts;
    for (const HostPhase phase : by_preference) {
        const std::uint32_t some = std::min(n, of(phase).count(among));
        if (some > 0) {
            hosts = hosts.united(of(phase).first_of(among, some));
            n -= some;
        }
    }
    return hosts;
}

} // namespace noctule
