#include "policies/window_places.hpp"

#include "allocation.hpp"

#include <algorithm>
#include <iterator>

namespace noctule {

namespace {

using Request = WindowPlaces::Request;

// The windows that close hosts to a job between two dates.
std::vector<WindowIndex> closing(const View& view, const Request& request, double from, double to) {
    std::vector<WindowIndex> found;
    for (WindowIndex w = 0; w < view.windows().size(); ++w) {
        if (w != request.reservation && closes(view.windows()[w], from, to)) {
            found.push_back(w);
        }
    }
    return found;
}

// Whether a job lies within its reservation, if it has one.
bool is_inside(const View& view, const Request& request, double start) {
    if (request.reservation == no_window) {
        return true;
    }
    const TimeWindow& own = view.windows()[request.reservation];
    return own.is_known() && start >= own.from && start + request.walltime <= own.to;
}

// The first date at which jobs hold so few hosts that a job might find enough.
double first_chance(const View& view, const Request& request) {
    const auto n_held = static_cast<std::uint32_t>(view.releases().n_hosts());
    const std::uint32_t n_others = view.n_hosts() - n_held;
    return request.n_hosts <= n_others
               ? view.now()
               : view.releases().shadow(view.now(), n_others, request.n_hosts).time;
}

// Hosts that will be free from a date on, as running jobs give them back.
class Returns {
  public:
    Returns(const View& view, double from)
        : view_(view), lost_(view.lost_hosts()), from_(from), free_(view.n_hosts()) {
        view.releases().for_each([&](const Release& release) {
            if (release.time > from) {
                to_come_.push_back(release);
                view.for_each_run(release.job, [&](Interval run) { free_.exclude(run); });
            }
        });
        free_.exclude(lost_);
    }

    double from() const { return from_; }
    const std::vector<Release>& to_come() const { return to_come_; }

    // At a date that is not before the last one.
    const FreeHosts& free_at(double date) {
        for (; n_passed_ < to_come_.size() && to_come_[n_passed_].time <= date; ++n_passed_) {
            view_.for_each_run(to_come_[n_passed_].job, [&](Interval run) { free_.give(run); });
            free_.exclude(lost_);
        }
        return free_;
    }

  private:
    const View& view_;
    HostSet lost_;
    double from_;
    FreeHosts free_;
    std::vector<Release> to_come_; // by date
    std::size_t n_passed_ = 0;
};

// The dates at which hosts may come free for a job, in order: of other jobs, or of windows.
std::vector<double> starts(const View& view, const Request& request, const Returns& returns) {
    std::vector<double> of_windows{returns.from()};
    for (const TimeWindow& window : view.windows()) {
        if (window.is_known()) {
            of_windows.push_back(window.to);
        }
    }
    if (request.reservation != no_window) {
        of_windows.push_back(view.windows()[request.reservation].from);
    }
    std::ranges::sort(of_windows);
    std::vector<double> of_jobs;
    for (const Release& release : returns.to_come()) {
        of_jobs.push_back(release.time);
    }
    std::vector<double> dates;
    std::ranges::merge(of_windows, of_jobs, std::back_inserter(dates));
    std::erase_if(dates, [&](double date) { return date < returns.from() || date == infinity; });
    return dates;
}

} // namespace

bool WindowPlaces::is_clear(const View& view, const Request& request, const Held& held) const {
    const double now = view.now();
    const double end = now + request.walltime;
    return request.reservation == no_window && !held.meets(now, end) &&
           std::ranges::none_of(view.windows(),
                                [&](const TimeWindow& window) { return closes(window, now, end); });
}

std::optional<HostSet> WindowPlaces::fit_now(const View& view, const Request& request,
                                             const FreeHosts& usable, const Held& held) const {
    const double end = view.now() + request.walltime;
    if (usable.count() < request.n_hosts || !is_inside(view, request, view.now())) {
        return std::nullopt;
    }
    FreeHosts open = usable;
    if (held.meets(view.now(), end)) {
        open.take_first(held.n_lowest, [](Interval) {});
        open.exclude(held.hosts);
    }
    for (const WindowIndex window : closing(view, request, view.now(), end)) {
        open.exclude(view.windows()[window].hosts);
    }
    std::vector<Interval> chosen;
    const auto visit = [&](Interval run) { chosen.push_back(run); };
    if (open.count() < request.n_hosts ||
        !take_hosts(allocation_, request.n_hosts, open, view.hierarchy(), visit)) {
        return std::nullopt;
    }
    return HostSet::from_intervals(std::move(chosen));
}

WindowPlaces::Held WindowPlaces::reserve(const View& view, const Request& request,
                                         const FreeHosts& usable) const {
    std::optional<Held> counted = reserve_by_number(view, request);
    return counted ? std::move(*counted) : reserve_by_name(view, request, usable);
}

// None if names may matter. All hosts must be free, held by jobs, or closed by windows that are
// under way and last beyond the reservation, and it must meet no other window: then each host that
// is given back counts, and those that are free now are wanted as far as the others do not suffice.
std::optional<WindowPlaces::Held> WindowPlaces::reserve_by_number(const View& view,
                                                                  const Request& request) const {
    const bool any_hosts = allocation_ != Allocation::contiguous &&
                           allocation_ != Allocation::local && !view.wakes_hosts();
    const std::uint32_t n_free = view.n_free();
    if (!any_hosts || request.reservation != no_window || request.n_hosts <= n_free ||
        !view.lost_hosts().empty()) {
        return std::nullopt;
    }
    const Shadow shadow = view.releases().shadow(view.now(), n_free, request.n_hosts);
    const double end = shadow.time + request.walltime;
    std::uint64_t n_known = n_free + view.releases().n_hosts();
    for (const TimeWindow& window : view.windows()) {
        const bool is_active = window.phase == TimeWindow::Phase::active;
        const bool is_met = closes(window, shadow.time, end);
        if (is_active != is_met) {
            return std::nullopt;
        }
        n_known += is_active ? window.hosts.size() : 0;
    }
    if (shadow.time == infinity || n_known != view.n_hosts()) {
        return std::nullopt;
    }
    return Held{shadow.time, end, {}, n_free - std::min(n_free, shadow.extra)};
}

WindowPlaces::Held WindowPlaces::reserve_by_name(const View& view, const Request& request,
                                                 const FreeHosts& usable) const {
    Returns returns(view, first_chance(view, request));
    std::vector<WindowIndex> windows;
    HostSet closed;
    for (const double start : starts(view, request, returns)) {
        const FreeHosts& free = returns.free_at(start);
        const double end = start + request.walltime;
        if (free.count() < request.n_hosts || !is_inside(view, request, start)) {
            continue;
        }
        if (auto now_closing = closing(view, request, start, end); now_closing != windows) {
            windows = std::move(now_closing);
            closed = HostSet();
            for (const WindowIndex window : windows) {
                closed = closed.united(view.windows()[window].hosts);
            }
        }
        if (free.count() - free.count(closed) < request.n_hosts) {
            continue;
        }
        FreeHosts open = free;
        open.exclude(closed);
        if (request.reservation != no_window) {
            open.keep(view.windows()[request.reservation].hosts);
        }
        if (finds_hosts(allocation_, request.n_hosts, open, view.hierarchy())) {
            return {start, end, choose(view.hierarchy(), std::move(open), request.n_hosts, usable)};
        }
    }
    return {};
}

// Others than the usable ones nobody can be started on now, so that these need no names.
HostSet WindowPlaces::choose(const Hierarchy& hierarchy, FreeHosts among, std::uint32_t n,
                             const FreeHosts& usable) const {
    std::vector<Interval> chosen;
    const auto visit = [&](Interval run) { chosen.push_back(run); };
    if (allocation_ == Allocation::contiguous) {
        take_hosts(allocation_, n, among, hierarchy, visit);
        return HostSet::from_intervals(std::move(chosen));
    }
    if (allocation_ == Allocation::local) {
        among.keep(hierarchy.hosts(*hierarchy.find(among, n)));
    }
    const std::uint32_t n_all = among.count();
    among.keep(usable);
    const std::uint32_t n_others = n_all - among.count();
    among.take_first(n - std::min(n, n_others), visit);
    return HostSet::from_intervals(std::move(chosen));
}

} // namespace noctule
