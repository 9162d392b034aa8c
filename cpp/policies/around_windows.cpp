// FCFS, filler and EASY around windows of time: no job starts on a host that a window will close
// before its walltime is over, and a job of a reservation runs inside it.
//
// EASY's first job reserves hosts by name, those that are busy now before those that are free, and
// anew after each start: where no window is near, that is the same as counting hosts.
#include "policies/around_windows.hpp"

#include "allocation.hpp"
#include "policies/policies.hpp"
#include "policies/window_places.hpp"

#include <optional>

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

namespace {

// The three differ in what the first job that cannot start does to those behind it.
enum class Behind { wait, pass_freely, pass_around };

class AroundWindows final : public Policy {
  public:
    AroundWindows(Order order, Allocation allocation, Behind behind)
        : lanes_(std::move(order)), places_(allocation), allocation_(allocation), behind_(behind) {}

    void decide(const View& view, std::span<const Event> events, Decisions& decisions) override {
        lanes_.follow(view, events);
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
            if (!lanes_.queue(lane).empty()) {
                serve(view, lane, decisions);
            }
        }
    }

  private:
    using Request = WindowPlaces::Request;
    using Held = WindowPlaces::Held;

    static Request request_of(const QueuedJob& job, std::size_t lane) {
        return {job.n_hosts, job.walltime, Lanes::reservation(lane)};
    }

    bool start(const View& view, const QueuedJob& job, std::size_t lane, const Held& held,
               Decisions& decisions) {
        Request request = request_of(job, lane);
        if (!view.wakes_hosts() && places_.is_clear(view, request, held)) {
            const bool fits =
                finds_hosts(allocation_, job.n_hosts, view.free_hosts(), view.hierarchy());
            if (fits) {
                decisions.start(job.job, allocation_);
            }
            return fits;
        }
        const UsableHosts usable(view, request.reservation);
        std::optional<HostSet> hosts;
        if (view.wakes_hosts()) { // those that are awake first
            FreeHosts awake = *usable;
            awake.exclude(view.hosts_that_wake());
            hosts = places_.fit_now(view, request, awake, held);
            request.walltime += longest_waking(view);
        }
        hosts = hosts ? hosts : places_.fit_now(view, request, *usable, held);
        if (hosts) {
            decisions.start(job.job, *hosts);
        }
        return hosts.has_value();
    }

    void serve(const View& view, std::size_t lane, Decisions& decisions) {
        JobQueue& queue = lanes_.queue(lane);
        while (!queue.empty() && start(view, queue.front(), lane, {}, decisions)) {
            queue.remove(queue.first());
        }
        if (queue.size() < 2 || behind_ == Behind::wait) {
            return;
        }
        const QueuedJob first = queue.front();
        auto position = search(view, lane, queue.after(queue.first()), {});
        if (!queue.valid(position)) {
            return;
        }
        Held held = reserve(view, first, lane);
        position = search(view, lane, position, held);
        while (queue.valid(position)) {
            if (!start(view, queue.at(position), lane, held, decisions)) {
                position = search(view, lane, queue.after(position), held);
                continue;
            }
            held = reserve(view, first, lane);
            position = search(view, lane, queue.remove(position), held);
        }
    }

    Held reserve(const View& view, const QueuedJob& job, std::size_t lane) const {
        const UsableHosts usable(view, Lanes::reservation(lane));
        return behind_ == Behind::pass_around && usable->count() > 0
                   ? places_.reserve(view, request_of(job, lane), *usable)
                   : Held();
    }

    // The first job from a position on that neither the reservation nor any one window keeps from
    // starting, as far as numbers of hosts tell.
    JobQueue::Position search(const View& view, std::size_t lane, JobQueue::Position from,
                              const Held& held) {
        JobQueue& queue = lanes_.queue(lane);
        const UsableHosts usable(view, Lanes::reservation(lane));
        const std::uint32_t n = usable->count();
        const Window window{view.now(), held.start, n,
                            n - held.n_lowest - usable->count(held.hosts)};
        auto position = queue.find(from, window);
        while (queue.valid(position)) {
            const auto limit = limit_of(view, request_of(queue.at(position), lane), *usable);
            if (!limit) {
                return position;
            }
            position = queue.find(queue.after(position), *limit);
            position = queue.valid(position) ? queue.find(position, window) : position;
        }
        return position;
    }

    // What the first window that keeps a job from starting now lets start.
    static std::optional<Window> limit_of(const View& view, const Request& request,
                                          const FreeHosts& usable) {
        for (WindowIndex w = 0; w < view.windows().size(); ++w) {
            const TimeWindow& window = view.windows()[w];
            if (w == request.reservation ||
                !closes(window, view.now(), view.now() + request.walltime)) {
                continue;
            }
            const std::uint32_t n_open = usable.count() - usable.count(window.hosts);
            if (n_open < request.n_hosts) {
                return Window{view.now(), window.from, usable.count(), n_open};
            }
        }
        return std::nullopt;
    }

    double longest_waking(const View& view) {
        if (!longest_waking_) {
            longest_waking_ = view.longest_waking();
        }
        return *longest_waking_;
    }

    Lanes lanes_;
    WindowPlaces places_;
    Allocation allocation_;
    Behind behind_;
    std::optional<double> longest_waking_; // asked for once
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
