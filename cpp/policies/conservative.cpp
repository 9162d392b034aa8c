// Conservative backfilling: every waiting job holds a reservation, and none is ever delayed.
//
// A new job takes the earliest slot that disturbs nobody. When a job ends before its walltime, the
// plan is compressed: one pass in the order of the queue, each job moving earlier if it can, never
// later. Planning the whole queue afresh instead is another policy, "replanning": it can break a
// promise made before.
//
// Mu'alem and Feitelson, "Utilization, predictability, workloads, and user runtime estimates in
// scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001.
#include "host_timeline.hpp"
#include "policies/policies.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>

namespace noctule {

namespace {

constexpr TimerTag next_reservation = 0;

enum class WhenRoomAppears { compress, replan };

template <typename Timeline> Timeline empty_plan(const View& view) {
    if constexpr (std::is_same_v<Timeline, GroupTimeline>) {
        return Timeline(view.hierarchy());
    } else {
        return Timeline(view.n_hosts());
    }
}

template <typename Timeline> class Conservative final : public Policy {
  public:
    Conservative(Order order, Allocation allocation, WhenRoomAppears mode)
        : order_(std::move(order)), allocation_(allocation), mode_(mode) {}

    void decide(const View& view, std::span<const Event> events, Decisions& decisions) override {
        if (!timeline_) {
            timeline_.emplace(empty_plan<Timeline>(view));
        }
        timeline_->advance(view.now());
        const bool room = make_room(view, events);
        if (order_.depends_on_time()) {
            sort(view);
        }
        if (room && mode_ == WhenRoomAppears::compress && !late_) {
            compress();
        }
        // Ends come before submissions, so the plan is compressed before newcomers find a place.
        const bool ahead = place_newcomers(view, events);
        if (late_ || (mode_ == WhenRoomAppears::replan && (room || ahead))) {
            replan(view);
        }
        start_due_jobs(view, decisions);
        while (overtime_) {
            overtime_ = false;
            replan(view);
            start_due_jobs(view, decisions);
        }
        call_for_next_start(view, decisions);
    }

  private:
    struct Planned {
        double key;
        double walltime;
        JobIndex job;
        std::uint32_t n_hosts;
        std::uint32_t submission;
        Slot slot;

        bool operator<(const Planned& other) const {
            return key != other.key ? key < other.key : submission < other.submission;
        }
    };

    // Takes ended and cancelled jobs out of the plan; returns whether that left room in it.
    bool make_room(const View& view, std::span<const Event> events) {
        bool room = false;
        gone_.clear();
        for (const Event& event : events) {
            // Hosts in an epilogue are not free: they come back to the plan when they are released.
            if (event.kind == EventKind::hosts_released ||
                (event.kind == EventKind::job_finished && !view.is_completing(event.subject))) {
                room |= give_rest(view, event.subject);
            } else if (event.kind == EventKind::job_cancelled) {
                room |= cancel(event.subject);
            }
        }
        return room;
    }

    // Returns whether one of them goes before jobs that have a place already.
    bool place_newcomers(const View& view, std::span<const Event> events) {
        bool ahead = false;
        for (const Event& event : events) {
            if (event.kind == EventKind::job_submitted &&
                std::ranges::find(gone_, event.subject) == gone_.end()) {
                ahead |= place(view, event.subject);
            }
        }
        return ahead;
    }

    bool place(const View& view, JobIndex job) {
        Planned planned{key(view, job),    view.walltime(job),          job,
                        view.n_hosts(job), view.submission_number(job), {}};
        planned.slot = timeline_->earliest(planned.n_hosts, planned.walltime);
        hold(planned);
        if (queue_.empty() || queue_.back() < planned) {
            queue_.push_back(planned);
            return false;
        }
        queue_.insert(std::upper_bound(queue_.begin(), queue_.end(), planned), planned);
        return true;
    }

    bool cancel(JobIndex job) {
        const auto found = std::ranges::find(queue_, job, &Planned::job);
        if (found == queue_.end()) { // submitted at this very instant
            gone_.push_back(job);
            return false;
        }
        timeline_->give(found->n_hosts, found->slot, found->slot.start, end_of(*found));
        queue_.erase(found);
        next_start_ = -infinity;
        return true;
    }

    bool give_rest(const View& view, JobIndex job) {
        const Slot& slot = running_[job];
        const double planned_end = slot.start + view.walltime(job);
        timeline_->give(view.n_hosts(job), slot, view.now(), planned_end);
        return view.now() < planned_end;
    }

    double key(const View& view, JobIndex job) const {
        return order_.key(view.now(), view.submit_time(job), view.walltime(job), view.n_hosts(job));
    }

    static double end_of(const Planned& planned) { return planned.slot.start + planned.walltime; }

    void hold(const Planned& planned) {
        timeline_->take(planned.n_hosts, planned.slot, planned.slot.start, end_of(planned));
        next_start_ = std::min(next_start_, planned.slot.start);
    }

    void sort(const View& view) {
        for (Planned& planned : queue_) {
            planned.key = key(view, planned.job);
        }
        std::sort(queue_.begin(), queue_.end());
    }

    void compress() {
        for (Planned& planned : queue_) {
            if (timeline_->hasten(planned.n_hosts, planned.walltime, planned.slot)) {
                next_start_ = std::min(next_start_, planned.slot.start);
            }
        }
    }

    // Hosts of jobs that should have ended by now count as free from now on: they are waited for.
    // Compression plans anew only where a job was late, and then in the order of the slots that
    // were promised.
    void replan(const View& view) {
        timeline_.emplace(empty_plan<Timeline>(view));
        timeline_->advance(view.now());
        view.releases().for_each([&](const Release& release) {
            timeline_->take(release.n_hosts, running_[release.job], view.now(), release.time);
        });
        next_start_ = infinity;
        std::vector<Planned*> order;
        for (Planned& planned : queue_) {
            order.push_back(&planned);
        }
        if (mode_ == WhenRoomAppears::compress) {
            std::ranges::stable_sort(order, {}, [](const Planned* p) { return p->slot.start; });
        }
        for (Planned* planned : order) {
            planned->slot = timeline_->earliest(planned->n_hosts, planned->walltime);
            hold(*planned);
        }
    }

    void start_due_jobs(const View& view, Decisions& decisions) {
        if (view.now() < next_start_) {
            return;
        }
        late_ = false;
        next_start_ = infinity;
        const auto started = [&](const Planned& planned) {
            if (planned.slot.start > view.now()) {
                next_start_ = std::min(next_start_, planned.slot.start);
                return false;
            }
            if (!start(view, planned, decisions)) {
                late_ = true;
                return false;
            }
            return true;
        };
        std::erase_if(queue_, started);
        if (late_) {
            next_start_ = -infinity;
        }
    }

    bool start(const View& view, const Planned& planned, Decisions& decisions) {
        if constexpr (std::is_same_v<Timeline, HostTimeline>) {
            if (!view.free_hosts().contains(planned.slot.hosts)) {
                return false;
            }
            decisions.start(planned.job, HostSet::from_intervals({planned.slot.hosts}));
        } else if constexpr (std::is_same_v<Timeline, GroupTimeline>) {
            const HostSet& group = view.hierarchy().hosts(planned.slot.group);
            if (planned.n_hosts > view.free_hosts().count(group)) {
                return false;
            }
            decisions.start(planned.job, view.first_free_of(group, planned.n_hosts));
        } else {
            if (planned.n_hosts > view.n_free()) {
                return false;
            }
            decisions.start(planned.job, allocation_);
        }
        if (planned.job >= running_.size()) {
            running_.resize(planned.job + std::size_t{1});
        }
        running_[planned.job] = planned.slot;
        running_[planned.job].start = view.start_time(planned.job);
        overtime_ |= view.start_time(planned.job) > view.now();
        return true;
    }

    // A reservation may begin where nothing else happens, after compression.
    void call_for_next_start(const View& view, Decisions& decisions) {
        if (next_start_ > view.now() && next_start_ < infinity && next_start_ != called_at_) {
            decisions.call_at(next_start_, next_reservation);
            called_at_ = next_start_;
        }
    }

    Order order_;
    Allocation allocation_;
    WhenRoomAppears mode_;
    std::optional<Timeline> timeline_;
    std::vector<Planned> queue_; // in order
    std::vector<Slot> running_;  // by job: the slot it was started in
    std::vector<JobIndex> gone_; // cancelled at the instant of their submission
    double next_start_ = infinity;
    double called_at_ = -infinity;
    bool overtime_ = false; // a job was started that ends later than planned: its hosts must wake
    bool late_ = false;     // a job is due, but its hosts are not free yet
};

std::unique_ptr<Policy> make(Order order, Allocation allocation, WhenRoomAppears mode) {
    if (allocation == Allocation::contiguous) {
        return std::make_unique<Conservative<HostTimeline>>(std::move(order), allocation, mode);
    }
    if (allocation == Allocation::local) {
        return std::make_unique<Conservative<GroupTimeline>>(std::move(order), allocation, mode);
    }
    return std::make_unique<Conservative<CountTimeline>>(std::move(order), allocation, mode);
}

} // namespace

std::unique_ptr<Policy> make_conservative(Order order, Allocation allocation) {
    return make(std::move(order), allocation, WhenRoomAppears::compress);
}

std::unique_ptr<Policy> make_replanning(Order order, Allocation allocation) {
    return make(std::move(order), allocation, WhenRoomAppears::replan);
}

} // namespace noctule
