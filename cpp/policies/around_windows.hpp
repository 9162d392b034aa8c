// What policies that plan around windows of time share: queues by reservation, and usable hosts.
#pragma once

#include "policies/queue.hpp"

#include <optional>
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
class UsableHosts {
  public:
    UsableHosts(const View& view, WindowIndex reservation) : free_(view.free_hosts()) {
        if (reservation != no_window) {
            of_reservation_ = view.free_in(reservation);
        }
    }
    const FreeHosts& operator*() const { return of_reservation_ ? *of_reservation_ : free_; }
    const FreeHosts* operator->() const { return &**this; }

  private:
    const FreeHosts& free_; // many hosts: not copied
    std::optional<FreeHosts> of_reservation_;
};

} // namespace noctule
