// What policies that plan around windows of time share: queues by reservation, and the plan of now.
#pragma once

#include "host_plan.hpp"
#include "policies/queue.hpp"

#include <vector>

namespace noctule {

// The jobs of each reservation have a queue of their own: they neither wait for other jobs nor hold
// them up. The first queue is that of all others.
class Lanes {
  public:
    explicit Lanes(Order order) : order_(std::move(order)) {}

    void follow(const View& view, std::span<const Event> events);

    std::size_t size() const { return queues_.size(); }
    JobQueue& queue(std::size_t lane) { return queues_[lane]; }
    static WindowIndex reservation(std::size_t lane) {
        return lane == 0 ? no_window : static_cast<WindowIndex>(lane - 1);
    }

  private:
    Order order_;
    std::vector<JobQueue> queues_;
    std::vector<std::vector<Event>> events_; // by lane, of one call
};

// Hosts that jobs of a lane may be started on now, as far as others are concerned.
inline FreeHosts usable_hosts(const View& view, WindowIndex reservation) {
    return reservation == no_window ? view.free_hosts() : view.free_in(reservation);
}

// Running jobs until their walltimes, and hosts that nobody knows the return of.
HostPlan plan_of_now(const View& view, Allocation allocation);

} // namespace noctule
