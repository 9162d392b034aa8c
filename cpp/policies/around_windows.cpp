// FCFS, filler and EASY around windows of time: no job starts on a host that a window will close
// before its walltime is over, and a job of a reservation runs inside it.
//
// Everything is planned by name of hosts. EASY's first job reserves hosts, those that are busy now
// before those that are free, and anew after each start: where no window is near, that is the same
// as counting hosts.
#include "policies/around_windows.hpp"

#include "policies/policies.hpp"

#include <algorithm>

namespace noctule {

void Lanes::follow(const View& view, std::span<const Event> events) {
    const std::size_t n_lanes = view.windows().size() + 1;
    while (queues_.size() < n_lanes) {
        queues_.emplace_back(order_);
    }
    events_.resize(n_lanes);
    for (std::vector<Event>& mine : events_) {
        mine.clear();
    }
    for (const Event& event : events) {
        if (event.kind == EventKind::job_submitted || event.kind == EventKind::job_cancelled) {
            const WindowIndex reservation = view.reservation(event.subject);
            events_[reservation == no_window ? 0 : reservation + std::size_t{1}].push_back(event);
        }
    }
    for (std::size_t lane = 0; lane < n_lanes; ++lane) {
        queues_[lane].follow(view, events_[lane]);
    }
}

HostPlan plan_of_now(const View& view, Allocation allocation) {
    HostPlan plan(view.now(), view.hierarchy(), view.n_hosts(), view.windows(), allocation);
    view.releases().for_each([&](const Release& release) {
        plan.take(view.hosts(release.job), view.now(), release.time);
    });
    plan.take(view.lost_hosts(), view.now(), infinity);
    return plan;
}

namespace {

// The three differ in what the first job that cannot start does to those behind it.
enum class Behind { wait, pass_freely, pass_around };

class AroundWindows final : public Policy {
  public:
    AroundWindows(Order order, Allocation allocation, Behind behind)
        : lanes_(std::move(order)), allocation_(allocation), behind_(behind) {}

    void decide(const View& view, std::span<const Event> events, Decisions& decisions) override {
        lanes_.follow(view, events);
        longest_waking_ = view.longest_waking();
        HostPlan plan = plan_of_now(view, allocation_);
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
            serve(view, lane, plan, decisions);
        }
    }

  private:
    using Request = HostPlan::Request;

    static Request request_of(const QueuedJob& job, std::size_t lane) {
        return {job.n_hosts, job.walltime, Lanes::reservation(lane)};
    }

    bool start(const View& view, const QueuedJob& job, std::size_t lane, HostPlan& plan,
               Decisions& decisions) const {
        Request request = request_of(job, lane);
        FreeHosts usable = usable_hosts(view, request.reservation);
        std::optional<HostSet> hosts;
        if (view.wakes_hosts()) { // those that are awake first
            FreeHosts awake = usable;
            awake.exclude(view.hosts_that_wake());
            hosts = plan.fit_now(request, awake);
            request.walltime += longest_waking_;
        }
        hosts = hosts ? hosts : plan.fit_now(request, usable);
        if (hosts) {
            decisions.start(job.job, *hosts);
            plan.take(*hosts, view.now(), view.expected_end(job.job));
        }
        return hosts.has_value();
    }

    void serve(const View& view, std::size_t lane, HostPlan& plan, Decisions& decisions) {
        JobQueue& queue = lanes_.queue(lane);
        while (!queue.empty() && start(view, queue.front(), lane, plan, decisions)) {
            queue.remove(queue.first());
        }
        if (queue.empty() || behind_ == Behind::wait) {
            return;
        }
        const QueuedJob first = queue.front();
        const HostPlan::Place nowhere;
        HostPlan::Place held =
            behind_ == Behind::pass_around ? reserve(view, first, lane, plan, nowhere) : nowhere;
        const auto search = [&](JobQueue::Position from) {
            const std::uint32_t n = usable_hosts(view, Lanes::reservation(lane)).count();
            return queue.find(from, {view.now(), infinity, n, n});
        };
        auto position = search(queue.after(queue.first()));
        while (queue.valid(position)) {
            if (!start(view, queue.at(position), lane, plan, decisions)) {
                position = search(queue.after(position));
                continue;
            }
            if (behind_ == Behind::pass_around) {
                held = reserve(view, first, lane, plan, held);
            }
            position = search(queue.remove(position));
        }
    }

    // Gives back what is held, and takes the earliest place instead.
    static HostPlan::Place reserve(const View& view, const QueuedJob& job, std::size_t lane,
                                   HostPlan& plan, const HostPlan::Place& held) {
        const FreeHosts usable = usable_hosts(view, Lanes::reservation(lane));
        if (!held.hosts.empty()) {
            plan.give(held.hosts, held.start, held.start + job.walltime);
        }
        HostPlan::Place place = plan.earliest(request_of(job, lane), infinity, &usable);
        if (!place.hosts.empty()) {
            plan.take(place.hosts, place.start, place.start + job.walltime);
        }
        return place;
    }

    Lanes lanes_;
    Allocation allocation_;
    Behind behind_;
    double longest_waking_ = 0.0;
};

} // namespace

std::unique_ptr<Policy> make_fcfs_around_windows(Order order, Allocation allocation) {
    return std::make_unique<AroundWindows>(std::move(order), allocation, Behind::wait);
}

std::unique_ptr<Policy> make_filler_around_windows(Order order, Allocation allocation) {
    return std::make_unique<AroundWindows>(std::move(order), allocation, Behind::pass_freely);
}

std::unique_ptr<Policy> make_easy_around_windows(Order order, Allocation allocation) {
    return std::make_unique<AroundWindows>(std::move(order), allocation, Behind::pass_around);
}

} // namespace noctule
