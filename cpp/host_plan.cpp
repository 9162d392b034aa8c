#include "host_plan.hpp"

#include "allocation.hpp"

#include <algorithm>

namespace noctule {

HostPlan::HostPlan(double now, const Hierarchy& hierarchy, std::uint32_t n_hosts,
                   std::span<const TimeWindow> windows, Allocation allocation)
    : hierarchy_(hierarchy), windows_(windows), allocation_(allocation),
      steps_{{now, FreeHosts(n_hosts)}} {}

// The step that holds at a time, which is not before the first one.
std::size_t HostPlan::index_at(double time) const {
    const auto after = std::ranges::upper_bound(steps_, time, {}, &Step::time);
    return static_cast<std::size_t>(after - steps_.begin()) - 1;
}

// The step that begins at a time, made if there is none.
std::size_t HostPlan::step_at(double time) {
    const std::size_t i = index_at(time);
    if (steps_[i].time == time) {
        return i;
    }
    steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(i) + 1, {time, steps_[i].free});
    return i + 1;
}

template <typename Change> void HostPlan::change(double from, double to, Change&& change) {
    from = std::max(from, steps_.front().time);
    if (from >= to) {
        return;
    }
    const std::size_t begin = step_at(from);
    const std::size_t end = to == infinity ? steps_.size() : step_at(to);
    for (std::size_t i = begin; i < end; ++i) {
        change(steps_[i].free);
    }
}

void HostPlan::take(const HostSet& hosts, double from, double to) {
    change(from, to, [&](FreeHosts& free) { free.exclude(hosts); });
}

void HostPlan::give(const HostSet& hosts, double from, double to) {
    change(from, to, [&](FreeHosts& free) {
        for (const Interval& run : hosts.intervals()) {
            free.give(run);
        }
    });
}

FreeHosts HostPlan::open_to(const Request& request, double start, FreeHosts hosts) const {
    const double end = start + request.walltime;
    if (request.reservation != no_window) {
        const TimeWindow& own = windows_[request.reservation];
        const bool is_inside = own.is_known() && start >= own.from && end <= own.to;
        hosts.keep(is_inside ? own.hosts : HostSet());
    }
    for (std::size_t i = index_at(start);
         i < steps_.size() && (steps_[i].time < end || steps_[i].time <= start) &&
         hosts.count() >= request.n_hosts;
         ++i) {
        hosts.keep(steps_[i].free);
    }
    for (WindowIndex w = 0; w < windows_.size() && hosts.count() >= request.n_hosts; ++w) {
        if (w != request.reservation && closes(windows_[w], start, end)) {
            hosts.exclude(windows_[w].hosts);
        }
    }
    return hosts;
}

// The dates at which hosts may come free for a job: of other jobs, or of windows.
std::vector<double> HostPlan::starts(const Request& request, double before) const {
    std::vector<double> dates;
    for (const Step& step : steps_) {
        dates.push_back(step.time);
    }
    for (const TimeWindow& window : windows_) {
        if (window.is_known()) {
            dates.push_back(window.to);
        }
    }
    if (request.reservation != no_window) {
        dates.push_back(windows_[request.reservation].from);
    }
    std::erase_if(dates, [&](double date) { return date < steps_.front().time || date >= before; });
    std::ranges::sort(dates);
    dates.erase(std::ranges::unique(dates).begin(), dates.end());
    return dates;
}

HostPlan::Place HostPlan::earliest(const Request& request, double before) const {
    for (const double start : starts(request, before)) {
        const FreeHosts open = open_to(request, start, steps_[index_at(start)].free);
        if (finds_hosts(allocation_, request.n_hosts, open, hierarchy_)) {
            return {start, choose(open, request.n_hosts)};
        }
    }
    return {};
}

HostSet HostPlan::choose(FreeHosts among, std::uint32_t n) const {
    std::vector<Interval> chosen;
    take_hosts(allocation_, n, among, hierarchy_, [&](Interval run) { chosen.push_back(run); });
    return HostSet::from_intervals(std::move(chosen));
}

} // namespace noctule
