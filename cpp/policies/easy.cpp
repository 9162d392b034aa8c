// EASY backfilling: the first waiting job gets a reservation, the others may pass it.
//
// The shadow is the first instant at which the first job fits if running jobs end at their
// walltimes; the extra hosts are those free at that instant, less what the first job needs. A
// later job passes if it fits now and either ends by the shadow, or uses no more than the extra
// hosts. Both are computed afresh whenever hosts may have come free. Where jobs need neighbours or
// stay in a group, the reservation is for certain hosts (places.hpp).
//
// Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995.
#include "policies/backfilling.hpp"

#include <algorithm>

namespace noctule {

namespace {

class Easy final : public Policy {
  public:
    Easy(Order order, Allocation allocation) : queue_(std::move(order)), allocation_(allocation) {}

    void decide(const View& view, std::span<const Event> events, Decisions& decisions) override {
        if (only_new_jobs_matter(view, events)) {
            window_.now = view.now();
            for (const Event& event : events) {
                pass_or_queue(view, event.subject, decisions);
            }
            return;
        }
        settled_ = false;
        if (queue_.empty()) {
            events = start_at_once(view, events, decisions);
        }
        queue_.follow(view, events);
        while (!queue_.empty() && fits(view, queue_.front().n_hosts, allocation_)) {
            decisions.start(queue_.front().job, allocation_);
            queue_.remove(queue_.first());
        }
        if (!queue_.empty()) {
            backfill(view, decisions);
        }
    }

  private:
    // While no host comes free, the jobs that could not pass still cannot: time only moves on, and
    // the shadow and the hosts that are free or extra stay as the last pass left them.
    bool only_new_jobs_matter(const View& view, std::span<const Event> events) const {
        const bool fcfs = queue_.order().is_fcfs();
        if (!settled_ || queue_.order().depends_on_time() || window_.shadow < view.now() ||
            !(fcfs || events.size() == 1)) {
            return false;
        }
        for (const Event& event : events) {
            if (event.kind != EventKind::job_submitted) {
                return false;
            }
        }
        return fcfs || !queue_.goes_first(view, events.front().subject);
    }

    // Most jobs of most logs find an empty queue; returns the events from the first job that must
    // wait on.
    std::span<const Event> start_at_once(const View& view, std::span<const Event> events,
                                         Decisions& decisions) const {
        const bool cancelled = std::ranges::any_of(
            events, [](const Event& event) { return event.kind == EventKind::job_cancelled; });
        const bool in_order = queue_.order().is_fcfs() || events.size() == 1;
        std::size_t i = 0;
        for (; in_order && !cancelled && i < events.size(); ++i) {
            if (events[i].kind == EventKind::job_submitted) {
                if (view.n_hosts(events[i].subject) > view.n_free()) {
                    break;
                }
                decisions.start(events[i].subject, allocation_);
            }
        }
        return events.subspan(i);
    }

    void pass_or_queue(const View& view, JobIndex job, Decisions& decisions) {
        const std::uint32_t n = view.n_hosts(job);
        const double walltime = view.walltime(job);
        if (window_.admits(n, walltime)) {
            start(job, n, walltime, decisions);
        } else {
            queue_.add(view, job);
        }
    }

    void start(JobIndex job, std::uint32_t n, double walltime, Decisions& decisions) {
        decisions.start(job, allocation_);
        window_.n_free -= n;
        if (!window_.ends_in_time(walltime)) {
            window_.extra -= n;
        }
    }

    void backfill(const View& view, Decisions& decisions) {
        settled_ = true;
        window_ = {view.now(), infinity, view.n_free(), 0};
        if (window_.n_free == 0) {
            return;
        }
        const Shadow shadow =
            view.releases().shadow(view.now(), view.n_free(), queue_.front().n_hosts);
        window_.shadow = shadow.time;
        window_.extra = shadow.extra;
        auto position = queue_.find(queue_.after(queue_.first()), window_);
        while (queue_.valid(position)) {
            const QueuedJob job = queue_.at(position);
            start(job.job, job.n_hosts, job.walltime, decisions);
            if (window_.n_free == 0) {
                queue_.remove(position);
                return;
            }
            position = queue_.find(queue_.remove(position), window_);
        }
    }

    JobQueue queue_;
    Allocation allocation_;
    Window window_{};
    bool settled_ = false; // the window is what the last pass left
};

} // namespace

std::unique_ptr<Policy> make_easy(Order order, Allocation allocation) {
    if (allocation == Allocation::contiguous || allocation == Allocation::local) {
        return make_backfilling(std::move(order), allocation, NoLimit());
    }
    return std::make_unique<Easy>(std::move(order), allocation);
}

} // namespace noctule
