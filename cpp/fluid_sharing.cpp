// The two ways of sharing: rounds over the tasks and the contended resources of one component.
#include "fluid.hpp"

namespace noctule {

namespace {

// SimGrid's precision of amounts: less of a resource than this is nothing.
constexpr double nothing = 1e-5;
// Fat pipes can make steps of next to nothing for ever, for which SimGrid waits.
constexpr std::size_t steps_without_end = 50'000'000;

} // namespace

// Rounds: each resource offers what is left of it in equal parts to its growing users; a task grows
// by the least of its offers; a task stops growing at its bound, or when a resource is used up.
//
// Two defects of SimGrid are kept: a task that has stopped takes its last step again in every
// later round, and a fat pipe is lowered by its smallest user only.
//
// Returns false after so many rounds that resources which were left out could have mattered.
bool Fluid::solve_fair_bottleneck(bool in_few_rounds) {
    std::size_t n_steps = 0;
    for (int n_rounds = 0; !growing_.empty() && n_steps < steps_without_end; ++n_rounds) {
        n_steps += growing_.size();
        if (n_rounds == most_rounds_ && in_few_rounds) {
            return false;
        }
        share_out();
        grow();
        if (has_fatpipes_) {
            note_least_taken();
        }
        consume();
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
        double step = member.own_left / member.own_weight;
        for (const MemberGroup& group : groups_of(member)) {
            double offer = infinity;
            for (const Slot slot : slots_of(group)) {
                const double share = shares[slot];
                offer = share < offer ? share : offer; // as one instruction, without a branch
            }
            step = std::min(step, offer / group.weight);
        }
        step = std::min(step, member.bound - member.rate);
        member.step = step;
        member.rate += step;
        member.own_left -= member.own_weight * step;
        member.is_live = member.rate != member.bound && member.own_left >= nothing;
        for (const MemberGroup& group : groups_of(member)) {
            const double taken = group.weight * step * group.count;
            for (const Slot slot : slots_of(group)) {
                all_taken[slot] += taken;
            }
        }
    }
}

void Fluid::note_least_taken() {
    for (const Slot slot : listed_) {
        contended_[slot].least_taken = contended_[slot].frozen_least;
    }
    for (const std::uint32_t i : growing_) {
        for (const MemberGroup& group : groups_of(members_[i])) {
            for (const Slot slot : slots_of(group)) {
                double& least = contended_[slot].least_taken;
                least = std::min(least, group.weight * members_[i].step);
            }
        }
    }
}

void Fluid::consume() {
    std::erase_if(listed_, [&](Slot slot) {
        Contended& resource = contended_[slot];
        resource.left -= resource.fatpipe ? std::min(shares_[slot], resource.least_taken)
                                          : taken_[slot] + frozen_taken_[slot];
        if (resource.left >= nothing) {
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
        const double taken = group.weight * member.step;
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
        member.bound = std::min(member.bound, member.own_left / member.own_weight);
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
            member.rate = level;
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
