#include "timeline.hpp"

#include <algorithm>

namespace noctule {

namespace {

// The index of the step that holds at this time, which is not before the first step.
template <typename Steps> std::size_t index_at(const Steps& steps, double time) {
    const auto after =
        std::ranges::upper_bound(steps, time, {}, [](const auto& step) { return step.time; });
    return static_cast<std::size_t>(after - steps.begin()) - 1;
}

template <typename Steps> void forget_before(Steps& steps, double now) {
    if (now > steps.front().time) {
        const std::size_t current = index_at(steps, now);
        steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(current));
        steps.front().time = now;
    }
}

// The index of the step that begins at this time, made if there is none.
template <typename Steps> std::size_t step_at(Steps& steps, double time) {
    const std::size_t i = index_at(steps, time);
    if (steps[i].time == time) {
        return i;
    }
    auto step = steps[i];
    step.time = time;
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(step));
    return i + 1;
}

template <typename Steps> void merge(Steps& steps, std::size_t step) {
    if (step > 0 && step < steps.size() && steps[step].free == steps[step - 1].free) {
        steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(step));
    }
}

// Changes what is free in [from, to).
template <typename Steps, typename Change>
void change(Steps& steps, double from, double to, Change&& change) {
    from = std::max(from, steps.front().time);
    if (from >= to) {
        return;
    }
    const std::size_t begin = step_at(steps, from);
    const std::size_t end = to == infinity ? steps.size() : step_at(steps, to);
    for (std::size_t i = begin; i < end; ++i) {
        change(steps[i].free);
    }
    merge(steps, end);
    merge(steps, begin);
}

} // namespace

void CountTimeline::advance(double now) { forget_before(steps_, now); }

double CountTimeline::first_fit(std::uint32_t n_hosts, double walltime, double before,
                                double until) const {
    double start = steps_.front().time;
    for (std::size_t i = 0; start < before; ++i) {
        const double end = i + 1 == steps_.size() ? infinity : steps_[i + 1].time;
        if (steps_[i].free < n_hosts) {
            start = end;
        } else if (end >= std::min(start + walltime, until)) {
            break;
        }
    }
    return start;
}

Slot CountTimeline::earliest(std::uint32_t n_hosts, double walltime) const {
    return {first_fit(n_hosts, walltime, infinity, infinity)};
}

// No lifting: a job at s may move to t if enough hosts are free on [t, min(t + walltime, s)); from
// there on it uses its own.
bool CountTimeline::hasten(std::uint32_t n_hosts, double walltime, Slot& held) {
    const double start = first_fit(n_hosts, walltime, held.start, held.start);
    if (start >= held.start) {
        return false;
    }
    move(n_hosts, walltime, held.start, start);
    held.start = start;
    return true;
}

void CountTimeline::move(std::uint32_t n_hosts, double walltime, double from, double to) {
    take(n_hosts, {}, to, std::min(to + walltime, from));
    give(n_hosts, {}, std::max(to + walltime, from), from + walltime);
}

void CountTimeline::take(std::uint32_t n_hosts, const Slot&, double from, double to) {
    change(steps_, from, to, [=](std::uint32_t& free) { free -= n_hosts; });
}

void CountTimeline::give(std::uint32_t n_hosts, const Slot&, double from, double to) {
    change(steps_, from, to, [=](std::uint32_t& free) { free += n_hosts; });
}

GroupTimeline::GroupTimeline(const Hierarchy& hierarchy) {
    for (Hierarchy::Group group = 0; group < hierarchy.n_groups(); ++group) {
        groups_.push_back({hierarchy.size(group), CountTimeline(hierarchy.size(group))});
    }
}

void GroupTimeline::advance(double now) {
    for (Group& group : groups_) {
        group.timeline.advance(now);
    }
}

Slot GroupTimeline::earliest(std::uint32_t n_hosts, double walltime) const {
    Slot best;
    for (Hierarchy::Group g = 0; g < groups_.size(); ++g) {
        if (n_hosts > groups_[g].size) {
            continue;
        }
        const double start = groups_[g].timeline.first_fit(n_hosts, walltime, best.start, infinity);
        if (start < best.start) {
            best = {.start = start, .group = g};
        }
    }
    return best;
}

// In its own group a job is not lifted: see CountTimeline::hasten.
bool GroupTimeline::hasten(std::uint32_t n_hosts, double walltime, Slot& held) {
    Slot best = held;
    for (Hierarchy::Group g = 0; g < groups_.size(); ++g) {
        if (n_hosts > groups_[g].size) {
            continue;
        }
        const double until = g == held.group ? held.start : infinity;
        const double start = groups_[g].timeline.first_fit(n_hosts, walltime, best.start, until);
        if (start < best.start) {
            best = {.start = start, .group = g};
        }
    }
    if (best.start >= held.start) {
        return false;
    }
    if (best.group == held.group) {
        groups_[held.group].timeline.move(n_hosts, walltime, held.start, best.start);
    } else {
        give(n_hosts, held, held.start, held.start + walltime);
        take(n_hosts, best, best.start, best.start + walltime);
    }
    held = best;
    return true;
}

void GroupTimeline::take(std::uint32_t n_hosts, const Slot& slot, double from, double to) {
    groups_[slot.group].timeline.take(n_hosts, slot, from, to);
}

void GroupTimeline::give(std::uint32_t n_hosts, const Slot& slot, double from, double to) {
    groups_[slot.group].timeline.give(n_hosts, slot, from, to);
}

} // namespace noctule
