// Since when hosts are idle: awake, and held by no job.
//
// Events tell when hosts become idle; that a job has taken them shows only when somebody looks.
// Hosts that became idle together lie in a line, oldest first, so that following a run costs the
// hosts that its events name, and asking who is idle for long costs those who are.
#pragma once

#include "policy.hpp"

#include <deque>
#include <span>
#include <vector>

namespace noctule {

class IdleHosts {
  public:
    void follow(const View& view, std::span<const Event> events);

    bool is_idle(const View& view, HostId host) const {
        return view.free_hosts().contains(host) && view.phase(host) == HostPhase::awake;
    }

    double since(HostId host) const { return since_[host]; }

    // The date since which the longest idle host is so; infinity if none is.
    double oldest(const View& view);

    // Forgets the hosts that have been idle for so long, and calls visit(host) for each.
    template <typename Visit> void take(const View& view, double seconds, Visit&& visit) {
        for (; !line_.empty() && line_.front().since + seconds <= view.now(); line_.pop_front()) {
            const Stretch& stretch = line_.front();
            for (HostId host = stretch.hosts.first; host <= stretch.hosts.last; ++host) {
                if (lasts(view, stretch, host)) {
                    visit(host);
                }
            }
        }
    }

  private:
    struct Stretch {
        double since;
        Interval hosts; // some may have been taken meanwhile
    };

    bool lasts(const View& view, const Stretch& stretch, HostId host) const {
        return since_[host] == stretch.since && is_idle(view, host);
    }
    void add(const View& view, Interval hosts);
    void add(const View& view, const HostSet& hosts);
    void add_woken(const View& view, const HostSet& hosts);

    std::deque<Stretch> line_;
    std::vector<double> since_;        // by host: the last date at which it became idle
    std::vector<std::uint8_t> asleep_; // by host: it was not awake when last heard of
};

} // namespace noctule
