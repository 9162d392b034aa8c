#include "policies/places.hpp"

#include <algorithm>

namespace noctule {

bool AnyHosts::start(const View& view, const QueuedJob& job, Decisions& decisions) {
    if (!fits(view, job.n_hosts, allocation_)) {
        return false;
    }
    decisions.start(job.job, allocation_);
    return true;
}

double AnyHosts::reserve(const View& view, std::uint32_t n, double from) {
    std::uint64_t free = view.n_free();
    double time = free >= n ? from : infinity;
    view.releases().for_each([&](const Release& release) {
        if (free < n || release.time <= time) {
            free += release.n_hosts;
            time = free >= n ? std::max(release.time, from) : infinity;
        }
    });
    extra_ = free >= n ? static_cast<std::uint32_t>(free - n) : 0;
    return time;
}

Window AnyHosts::window(const View& view, double shadow) const {
    return {view.now(), shadow, view.n_free(), extra_};
}

bool AnyHosts::pass(const View&, const QueuedJob& job, Window& window, Decisions& decisions) {
    decisions.start(job.job, allocation_);
    window.n_free -= job.n_hosts;
    if (!window.ends_in_time(job.walltime)) {
        window.extra -= job.n_hosts;
    }
    return true;
}

bool Neighbours::start(const View& view, const QueuedJob& job, Decisions& decisions) {
    if (!fits(view, job.n_hosts, Allocation::contiguous)) {
        return false;
    }
    decisions.start(job.job, Allocation::contiguous);
    return true;
}

double Neighbours::reserve(const View& view, std::uint32_t n, double from) {
    FreeHosts hosts = view.free_hosts();
    double time = from;
    bool found = hosts.find_run(n).has_value();
    view.releases().for_each([&](const Release& release) {
        if (found && release.time > time) {
            return;
        }
        view.for_each_run(release.job, [&](Interval part) {
            hosts.give(part);
            found = found || hosts.lie_in_run(part, n);
        });
        time = std::max(time, release.time);
    });
    reserved_ = hosts.find_run(n);
    return reserved_ ? time : infinity;
}

Window Neighbours::window(const View& view, double shadow) const {
    return {view.now(), shadow, view.n_free(), view.n_free()};
}

// Free hosts only become fewer: where there is no run for this job, there is none for a larger one.
bool Neighbours::pass(const View& view, const QueuedJob& job, Window& window,
                      Decisions& decisions) {
    const bool anywhere = !reserved_ || window.ends_in_time(job.walltime);
    const auto find = [&](const FreeHosts& hosts) {
        if (anywhere) {
            return hosts.find_run(job.n_hosts);
        }
        FreeHosts outside = hosts;
        outside.exclude(*reserved_);
        return outside.find_run(job.n_hosts);
    };
    auto run = view.wakes_hosts() ? find(view.awake_free_hosts()) : std::nullopt;
    run = run ? run : find(view.free_hosts());
    if (!run) {
        std::uint32_t& most = anywhere ? window.n_free : window.extra;
        most = job.n_hosts - 1;
        return false;
    }
    decisions.start(job.job, HostSet::from_intervals({*run}));
    window.n_free = std::min(window.n_free, view.n_free());
    window.extra = std::min(window.extra, view.n_free());
    return true;
}

void OneGroup::look(const View& view) {
    free_.resize(view.hierarchy().n_groups());
    for (Group group = 0; group < free_.size(); ++group) {
        free_[group] = view.free_hosts().count(view.hierarchy().hosts(group));
    }
}

template <typename Condition>
std::optional<OneGroup::Group> OneGroup::find(Condition&& holds) const {
    for (Group group = 0; group < free_.size(); ++group) {
        if (holds(group)) {
            return group;
        }
    }
    return std::nullopt;
}

std::uint32_t OneGroup::most_free() const { return *std::ranges::max_element(free_); }

void OneGroup::put(const View& view, const QueuedJob& job, Group group, Decisions& decisions) {
    const HostSet& hosts = view.hierarchy().hosts(group);
    decisions.start(job.job, view.first_free_of(hosts, job.n_hosts));
    free_[group] -= job.n_hosts;
    if (job.job >= group_of_job_.size()) {
        group_of_job_.resize(job.job + std::size_t{1});
    }
    group_of_job_[job.job] = group;
}

bool OneGroup::start(const View& view, const QueuedJob& job, Decisions& decisions) {
    const auto group = find([&](Group g) { return free_[g] >= job.n_hosts; });
    if (group) {
        put(view, job, *group, decisions);
    }
    return group.has_value();
}

double OneGroup::reserve(const View& view, std::uint32_t n, double from) {
    std::vector<std::uint32_t> free = free_;
    reserved_ = find([&](Group g) { return free_[g] >= n; });
    double time = from;
    view.releases().for_each([&](const Release& release) {
        if (reserved_ && release.time > time) {
            return;
        }
        time = std::max(time, release.time);
        const Group group = group_of_job_[release.job];
        free[group] += release.n_hosts;
        if (free[group] >= n && (!reserved_ || group <= *reserved_)) {
            reserved_ = group;
        }
    });
    extra_ = reserved_ ? free[*reserved_] - n : 0;
    return reserved_ ? time : infinity;
}

Window OneGroup::window(const View& view, double shadow) const {
    return {view.now(), shadow, most_free(), most_free()};
}

bool OneGroup::pass(const View& view, const QueuedJob& job, Window& window, Decisions& decisions) {
    const bool in_time = window.ends_in_time(job.walltime);
    const auto group = find([&](Group g) {
        return free_[g] >= job.n_hosts && (in_time || g != reserved_ || extra_ >= job.n_hosts);
    });
    if (!group) {
        return false;
    }
    put(view, job, *group, decisions);
    if (!in_time && group == reserved_) {
        extra_ -= job.n_hosts;
    }
    window.n_free = window.extra = most_free();
    return true;
}

} // namespace noctule
