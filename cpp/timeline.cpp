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

double CountTimeline::first_fit(std::uint32_t n_hosts, double walltime, double before) const {
    double start = steps_.front().time;
    for (std::size_t i = 0; start < before; ++i) {
        const double end = i + 1 == steps_.size() ? infinity : steps_[i + 1].time;
        if (steps_[i].free < n_hosts) {
            start = end;
        } else if (end >= std::min(start + walltime, before)) {
            break;
        }
    }
    return start;
}

Slot CountTimeline::earliest(std::uint32_t n_hosts, double walltime) const {
    return {first_fit(n_hosts, walltime, infinity), {0, 0}};
}

// No lifting: a job at s may move to t if enough hosts are free on [t, min(t + walltime, s)); from
// there on it uses its own.
bool CountTimeline::hasten(std::uint32_t n_hosts, double walltime, Slot& held) {
    const double start = first_fit(n_hosts, walltime, held.start);
    if (start >= held.start) {
        return false;
    }
    const double end = start + walltime;
    take(n_hosts, held, start, std::min(end, held.start));
    give(n_hosts, held, std::max(end, held.start), held.start + walltime);
    held.start = start;
    return true;
}

void CountTimeline::take(std::uint32_t n_hosts, const Slot&, double from, double to) {
    change(steps_, from, to, [=](std::uint32_t& free) { free -= n_hosts; });
}

void CountTimeline::give(std::uint32_t n_hosts, const Slot&, double from, double to) {
    change(steps_, from, to, [=](std::uint32_t& free) { free += n_hosts; });
}

void HostTimeline::advance(double now) { forget_before(steps_, now); }

Slot HostTimeline::first_fit(std::uint32_t n_hosts, double walltime, double before) {
    for (std::size_t i = 0; i < steps_.size() && steps_[i].time < before; ++i) {
        if (steps_[i].free.count() < n_hosts) {
            continue;
        }
        const double end = steps_[i].time + walltime;
        common_ = steps_[i].free;
        for (std::size_t j = i + 1; j < steps_.size() && steps_[j].time < end; ++j) {
            common_.intersect(steps_[j].free);
            if (common_.count() < n_hosts) {
                break;
            }
        }
        if (const auto run = common_.find_run(n_hosts)) {
            return {steps_[i].time, *run};
        }
    }
    return {};
}

Slot HostTimeline::earliest(std::uint32_t n_hosts, double walltime) {
    return first_fit(n_hosts, walltime, infinity);
}

// Lifts the job, so that it may move onto hosts of its own.
bool HostTimeline::hasten(std::uint32_t n_hosts, double walltime, Slot& held) {
    give(n_hosts, held, held.start, held.start + walltime);
    const Slot slot = first_fit(n_hosts, walltime, held.start);
    const bool moved = slot.start < held.start;
    if (moved) {
        held = slot;
    }
    take(n_hosts, held, held.start, held.start + walltime);
    return moved;
}

void HostTimeline::take(std::uint32_t, const Slot& slot, double from, double to) {
    change(steps_, from, to, [&](FreeHosts& free) { free.take(slot.hosts); });
}

void HostTimeline::give(std::uint32_t, const Slot& slot, double from, double to) {
    change(steps_, from, to, [&](FreeHosts& free) { free.give(slot.hosts); });
}

} // namespace noctule
