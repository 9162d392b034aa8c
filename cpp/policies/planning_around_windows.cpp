// Conservative backfilling around windows of time, and replanning: see conservative.cpp.
//
// Slots are for named hosts, so that a job may find its hosts taken by name where counting would
// still find others. Hosts that fail, leave or return, and windows that are announced, upset the
// plan: it is then made anew in the order of the slots that were promised.
#include "host_plan.hpp"
#include "policies/around_windows.hpp"
#include "policies/policies.hpp"

#include <algorithm>

namespace noctule {

namespace {

constexpr TimerTag next_reservation = 0;

bool upsets_plans(EventKind kind) {
    switch (kind) {
    case EventKind::host_failed:
    case EventKind::host_restored:
    case EventKind::hosts_unavailable:
    case EventKind::hosts_available:
    case EventKind::power_state_changed:
    case EventKind::window_announced:
    case EventKind::window_began:
    case EventKind::window_ended:
        return true;
    default:
        return false;
    }
}

// Running jobs until their walltimes, and hosts that nobody knows the return of.
HostPlan plan_of_now(const View& view, Allocation allocation) {
    HostPlan plan(view.now(), view.hierarchy(), view.n_hosts(), view.windows(), allocation);
    view.releases().for_each([&](const Release& release) {
        plan.take(view.hosts(release.job), view.now(), release.time);
    });
    plan.take(view.lost_hosts(), view.now(), infinity);
    return plan;
}

class PlanningAroundWindows final : public Policy {
  public:
    PlanningAroundWindows(Order order, Allocation allocation, bool replans)
        : order_(std::move(order)), allocation_(allocation), replans_(replans) {}

    void decide(const View& view, std::span<const Event> events, Decisions& decisions) override {
        const bool room = follow(view, events);
        if (queue_.empty()) {
            late_ = false;
            return;
        }
        const bool is_new = std::ranges::any_of(queue_, &Planned::is_new);
        if (order_.depends_on_time()) {
            for (Planned& planned : queue_) {
                planned.key = key(view, planned.job);
            }
        }
        std::ranges::stable_sort(queue_, {}, &Planned::rank);
        const bool upset =
            std::ranges::any_of(events, [](const Event& e) { return upsets_plans(e.kind); });
        HostPlan plan = plan_of_now(view, allocation_);
        if (late_ || upset || (replans_ && (room || is_new))) {
            place_all(plan);
        } else {
            keep_places(plan, room);
        }
        start_due(view, decisions);
        call_for_next_start(view, decisions);
    }

  private:
    struct Planned {
        double key;
        std::uint32_t submission;
        JobIndex job;
        HostPlan::Request request;
        HostPlan::Place place = {};
        bool is_new = true;

        std::pair<double, std::uint32_t> rank() const { return {key, submission}; }
        double end() const { return place.start + request.walltime; }
    };

    double key(const View& view, JobIndex job) const {
        return order_.key(view.now(), view.submit_time(job), view.walltime(job), view.n_hosts(job));
    }

    // Takes note of who came and left; returns whether that left room in the plan.
    bool follow(const View& view, std::span<const Event> events) {
        bool room = false;
        for (const Event& event : events) {
            if (event.kind == EventKind::job_submitted && view.is_waiting(event.subject)) {
                const JobIndex job = event.subject;
                const double lasts = view.walltime(job) + view.longest_waking();
                queue_.push_back({key(view, job),
                                  view.submission_number(job),
                                  job,
                                  {view.n_hosts(job), lasts, view.reservation(job)}});
            } else if (event.kind == EventKind::job_cancelled) {
                room |= std::erase_if(queue_, [&](const Planned& planned) {
                            return planned.job == event.subject;
                        }) > 0;
            } else if (event.kind == EventKind::hosts_released ||
                       event.kind == EventKind::job_finished) {
                room = true;
            }
        }
        return room;
    }

    // In the order of the queue, or of the slots that were promised; newcomers come last.
    void place_all(HostPlan& plan) {
        std::vector<Planned*> all;
        for (Planned& planned : queue_) {
            all.push_back(&planned);
        }
        if (!replans_) {
            std::ranges::stable_sort(
                all, {}, [](const Planned* p) { return std::pair{p->is_new, p->place.start}; });
        }
        for (Planned* planned : all) {
            place(*planned, plan);
        }
    }

    void keep_places(HostPlan& plan, bool room) {
        for (const Planned& planned : queue_) {
            if (!planned.is_new && !planned.place.hosts.empty()) {
                plan.take(planned.place.hosts, planned.place.start, planned.end());
            }
        }
        for (Planned& planned : queue_) {
            if (room && !planned.is_new) {
                hasten(planned, plan);
            }
        }
        for (Planned& planned : queue_) {
            if (planned.is_new) {
                place(planned, plan);
            }
        }
    }

    static void place(Planned& planned, HostPlan& plan) {
        planned.place = plan.earliest(planned.request);
        planned.is_new = false;
        if (!planned.place.hosts.empty()) {
            plan.take(planned.place.hosts, planned.place.start, planned.end());
        }
    }

    // Moves a job to an earlier slot than its own, if there is one.
    static void hasten(Planned& planned, HostPlan& plan) {
        if (!planned.place.hosts.empty()) {
            plan.give(planned.place.hosts, planned.place.start, planned.end());
        }
        HostPlan::Place earlier = plan.earliest(planned.request, planned.place.start);
        if (!earlier.hosts.empty()) {
            planned.place = std::move(earlier);
        }
        if (!planned.place.hosts.empty()) {
            plan.take(planned.place.hosts, planned.place.start, planned.end());
        }
    }

    void start_due(const View& view, Decisions& decisions) {
        late_ = false;
        std::erase_if(queue_, [&](const Planned& planned) {
            if (planned.place.start > view.now()) {
                return false;
            }
            const UsableHosts usable(view, planned.request.reservation);
            if (usable->count(planned.place.hosts) < planned.request.n_hosts) {
                late_ = true;
                return false;
            }
            decisions.start(planned.job, planned.place.hosts);
            return true;
        });
    }

    // A slot may begin where nothing else happens.
    void call_for_next_start(const View& view, Decisions& decisions) {
        double next = infinity;
        for (const Planned& planned : queue_) {
            if (planned.place.start > view.now()) {
                next = std::min(next, planned.place.start);
            }
        }
        if (next < infinity) {
            decisions.call_at(next, next_reservation);
        }
    }

    Order order_;
    Allocation allocation_;
    bool replans_;
    std::vector<Planned> queue_; // in order
    bool late_ = false;          // a job is due, but its hosts are not free yet
};

} // namespace

std::unique_ptr<Policy> make_conservative_around_windows(Order order, Allocation allocation) {
    return std::make_unique<PlanningAroundWindows>(std::move(order), allocation, false);
}

std::unique_ptr<Policy> make_replanning_around_windows(Order order, Allocation allocation) {
    return std::make_unique<PlanningAroundWindows>(std::move(order), allocation, true);
}

} // namespace noctule
