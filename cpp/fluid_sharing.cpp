// The two ways of sharing: rounds over the tasks and the contended resources of one component.
#include "fluid.hpp"

#include <cmath>

namespace noctule {

namespace {

// Fat pipes can make steps of next to nothing for ever, for which SimGrid waits.
constexpr std::size_t steps_without_end = 50'000'000;
// Rates that differ by less than this part were rounded differently.
constexpr double rounding = 0x1p-48;

} // namespace

// Whether a task is at its bound and a resource used up are exact comparisons in SimGrid, and make
// the difference of a round, in which others take their last steps again. Where one of them hangs
// on roundings, all is done again with its own.
void Fluid::solve_as_simgrid(TaskId from) {
    bool in_few_rounds = true;
    for (takes_one_by_one_ = false;;) {
        if (!solve_fair_bottleneck(in_few_rounds)) {
            contend_all();
            in_few_rounds = false;
        } else if (is_delicate_ && !takes_one_by_one_) {
            takes_one_by_one_ = true;
        } else {
            return;
        }
        collect(from);
        if (takes_one_by_one_) {
            list_takers();
        }
    }
}

// The users of each resource, the last that began first: so SimGrid lists them.
void Fluid::list_takers() {
    takers_.clear();
    for (const Slot slot : listed_) {
        Contended& contended = contended_[slot];
        contended.first = static_cast<std::uint32_t>(takers_.size());
        for (const User& user : resources_[contended.resource].users) {
            const Task& task = tasks_[user.task];
            const Group& group = task.groups[task.uses[user.place].group];
            takers_.push_back({task.sequence, group.weight, static_cast<std::uint32_t>(group.count),
                               task.member});
        }
        contended.last = static_cast<std::uint32_t>(takers_.size());
        std::sort(takers_.begin() + contended.first, takers_.end(),
                  [](const Taker& a, const Taker& b) { return a.sequence > b.sequence; });
    }
}

double Fluid::left_one_by_one(const Contended& resource) const {
    double left = resource.left;
    for (std::uint32_t i = resource.first; i < resource.last; ++i) {
        const Taker& taker = takers_[i];
        for (std::uint32_t n = 0; n < taker.count; ++n) {
            left -= taker.weight * members_[taker.member].state.step;
            left = left < nothing_ ? 0.0 : left;
        }
    }
    return left;
}

// Whether the sum of so many roundings may decide that it is used up.
bool Fluid::is_near_nothing(double left, double capacity, double n_roundings) {
    const double apart = left - nothing_;
    const double rounded = 0x1p-52 * capacity; // and the sum, by the root of their number
    return apart * apart < rounded * rounded * n_roundings;
}

// Rounds: each resource offers what is left of it in equal parts to its growing users; a task grows
// by the least of its offers; a task stops growing at its bound, or when a resource is used up.
//
// Two defects of SimGrid are kept: a task that has stopped takes its last step again in every
// later round, and a fat pipe is lowered by its smallest user only.
//
// Returns false after so many rounds that resources which were left out could have mattered.
bool Fluid::solve_fair_bottleneck(bool in_few_rounds) {
    std::size_t n_steps = 0;
    is_delicate_ = false;
    for (round_ = 0; !growing_.empty() && n_steps < steps_without_end; ++round_) {
        n_steps += growing_.size();
        if (round_ == most_rounds_ && in_few_rounds) {
            return false;
        }
        round_is_delicate_ = false;
        share_out();
        grow();
        if (has_fatpipes_) {
            note_least_taken();
        }
        consume();
        is_delicate_ |= round_is_delicate_ && !growing_.empty();
    }
    return true;
}

void Fluid::share_out() {
    std::erase_if(listed_, [&](Slot slot) {
        const Contended& resource = contended_[slot];
        shares_[slot] = resource.fatpipe ? resource.left : resource.left / n_growing_[slot];
        taken_[slot] = 0.0;
        return n_growing_[slot] == 0;
    });
}

void Fluid::grow() {
    const double* const shares = shares_.data();
    double* const all_taken = taken_.data();
    for (const std::uint32_t i : growing_) {
        Member& member = members_[i];
        const Task& task = tasks_[member.task];
        double step = member.state.own_left / task.tightest_weight;
        for (const MemberGroup& group : groups_of(member)) {
            const double offer = least_of(slots_of(group), [&](Slot slot) { return shares[slot]; });
            step = std::min(step, offer / group.weight);
        }
        member.state = grown(task, member.state, step, round_);
        member.is_live = !stops(task, member.state);
        for (const MemberGroup& group : groups_of(member)) {
            const double taken = group.weight * member.state.step * group.count;
            for (const Slot slot : slots_of(group)) {
                all_taken[slot] += taken;
            }
        }
    }
}

// A task grows by a step, but not beyond its bound.
Fluid::Step Fluid::grown(const Task& task, const Step& before, double step, int round) {
    const double most = task.bound - before.rate;
    round_is_delicate_ |= round > 0 && std::abs(step - most) < rounding * task.bound;
    if (most < step) {
        step = most;
        round_is_delicate_ |= before.rate > 0 && before.rate < 0.5 * task.bound;
    }
    const Step after{step, before.rate + step, before.own_left - task.tightest_weight * step};
    round_is_delicate_ |=
        round > 0 && is_near_nothing(after.own_left, task.tightest_capacity, round);
    return after;
}

void Fluid::note_least_taken() {
    for (const Slot slot : listed_) {
        contended_[slot].least_taken = contended_[slot].frozen_least;
    }
    for (const std::uint32_t i : growing_) {
        for (const MemberGroup& group : groups_of(members_[i])) {
            for (const Slot slot : slots_of(group)) {
                double& least = contended_[slot].least_taken;
                least = std::min(least, group.weight * members_[i].state.step);
            }
        }
    }
}

void Fluid::consume() {
    std::erase_if(listed_, [&](Slot slot) {
        Contended& resource = contended_[slot];
        if (resource.fatpipe) {
            resource.left -= std::min(shares_[slot], resource.least_taken);
        } else if (takes_one_by_one_) {
            resource.left = left_one_by_one(resource);
        } else {
            resource.left -= taken_[slot] + frozen_taken_[slot];
            const Resource& whole = resources_[resource.resource];
            round_is_delicate_ |=
                is_near_nothing(resource.left, whole.capacity, whole.n_uses * (round_ + 1.0));
        }
        if (resource.left >= nothing_) {
            return false;
        }
        resource.left = 0.0;
        for (const User& user : resources_[resource.resource].users) {
            members_[tasks_[user.task].member].is_live = false;
        }
        return true;
    });
    const auto still = std::partition(growing_.begin(), growing_.end(),
                                      [&](std::uint32_t i) { return members_[i].is_live; });
    if (still != growing_.begin()) { // else nobody asks what they take
        std::for_each(still, growing_.end(), [&](std::uint32_t i) { freeze(members_[i]); });
    }
    growing_.erase(still, growing_.end());
}

void Fluid::freeze(const Member& member) {
    for (const MemberGroup& group : groups_of(member)) {
        const double taken = group.weight * member.state.step;
        for (const Slot slot : slots_of(group)) {
            n_growing_[slot] -= group.count;
            frozen_taken_[slot] += taken * group.count;
        }
        if (has_fatpipes_) {
            for (const Slot slot : slots_of(group)) {
                double& least = contended_[slot].frozen_least;
                least = std::min(least, taken);
            }
        }
    }
}

// All rates grow together; those of a full resource, or at their bound, stay where they are.
void Fluid::solve_max_min() {
    for (Member& member : members_) {
        member.bound = std::min(member.bound, tasks_[member.task].alone());
        for (const MemberGroup& group : groups_of(member)) {
            for (const Slot slot : slots_of(group)) {
                if (contended_[slot].fatpipe) {
                    const double left = contended_[slot].left;
                    member.bound = std::min(member.bound, left / group.weight);
                }
            }
        }
    }
    for (double level = 0.0; !growing_.empty();) {
        level = raise_level(level);
        std::erase_if(growing_, [&](std::uint32_t i) {
            Member& member = members_[i];
            member.state.rate = level;
            bool grows = member.bound > level;
            for (const MemberGroup& group : groups_of(member)) {
                for (const Slot slot : slots_of(group)) {
                    grows = grows && shares_[slot] > level;
                }
            }
            return !grows;
        });
    }
}

// Returns the rate at which the next task meets its bound, or the next resource is full.
double Fluid::raise_level(double level) {
    for (const Slot slot : listed_) {
        taken_[slot] = 0.0;
    }
    double next = infinity;
    for (const std::uint32_t i : growing_) {
        next = std::min(next, members_[i].bound);
        for (const MemberGroup& group : groups_of(members_[i])) {
            for (const Slot slot : slots_of(group)) {
                taken_[slot] += group.weight * group.count;
            }
        }
    }
    for (const Slot slot : listed_) {
        const Contended& resource = contended_[slot];
        const bool binds = taken_[slot] > 0 && !resource.fatpipe;
        shares_[slot] = binds ? level + resource.left / taken_[slot] : infinity;
        next = std::min(next, shares_[slot]);
    }
    for (const Slot slot : listed_) {
        Contended& resource = contended_[slot];
        resource.left = std::max(0.0, resource.left - taken_[slot] * (next - level));
    }
    return next;
}

} // namespace noctule
