// EASY backfilling wherever jobs may go, and under whatever limit besides hosts.
//
// The first waiting job holds a reservation, for hosts (places.hpp) and for what a limit rations;
// the others pass it where they delay it by neither.
#pragma once

#include "policies/places.hpp"

#include <utility>

namespace noctule {

struct NoLimit {
    // At the beginning and at the end of each call.
    void follow(const View&, Decisions&) {}
    void settle(const View&) {}

    // Whether the first job may start now; if not, the first date from this one on at which it may,
    // which is reserved for it; and whether another may start before it.
    bool admits(const QueuedJob&) const { return true; }
    double reserve(const QueuedJob&, double date) { return date; }
    bool lets_pass(const QueuedJob&) const { return true; }

    void started(const View&, const QueuedJob&) {}
    std::vector<std::string> warnings() const { return {}; }
};

template <typename Places, typename Limit> class Backfilling final : public Policy {
  public:
    Backfilling(Order order, Places places, Limit limit)
        : queue_(std::move(order)), places_(std::move(places)), limit_(std::move(limit)) {}

    void decide(const View& view, std::span<const Event> events, Decisions& decisions) override {
        limit_.follow(view, decisions);
        queue_.follow(view, events);
        if (!queue_.empty()) {
            places_.look(view);
            start_first_jobs(view, decisions);
        }
        if (!queue_.empty()) {
            backfill(view, decisions);
        }
        limit_.settle(view);
    }

    std::vector<std::string> warnings() const override { return limit_.warnings(); }

  private:
    void start_first_jobs(const View& view, Decisions& decisions) {
        while (!queue_.empty()) {
            const QueuedJob first = queue_.front();
            if (!limit_.admits(first) || !places_.start(view, first, decisions)) {
                return;
            }
            limit_.started(view, first);
            queue_.remove(queue_.first());
        }
    }

    double reserve(const View& view) {
        const QueuedJob& first = queue_.front();
        const double with_hosts = places_.reserve(view, first.n_hosts, view.now());
        const double date = limit_.reserve(first, with_hosts);
        return date > with_hosts ? places_.reserve(view, first.n_hosts, date) : with_hosts;
    }

    void backfill(const View& view, Decisions& decisions) {
        Window window = places_.window(view, reserve(view));
        auto position = queue_.find(queue_.after(queue_.first()), window);
        while (queue_.valid(position)) {
            const QueuedJob job = queue_.at(position);
            if (limit_.lets_pass(job) && places_.pass(view, job, window, decisions)) {
                limit_.started(view, job);
                position = queue_.remove(position);
            } else {
                position = queue_.after(position);
            }
            position = queue_.find(position, window);
        }
    }

    JobQueue queue_;
    Places places_;
    Limit limit_;
};

template <typename Limit>
std::unique_ptr<Policy> make_backfilling(Order order, Allocation allocation, Limit limit) {
    const auto make = [&](auto places) -> std::unique_ptr<Policy> {
        return std::make_unique<Backfilling<decltype(places), Limit>>(
            std::move(order), std::move(places), std::move(limit));
    };
    switch (allocation) {
    case Allocation::contiguous:
        return make(Neighbours());
    case Allocation::local:
        return make(OneGroup());
    default:
        return make(AnyHosts(allocation));
    }
}

} // namespace noctule
