// The rounds of SimGrid's fair bottleneck, of which those of the last solve are remembered.
//
// What a round makes of a task or a resource depends on the round before, on the resources of the
// task, and on the users of the resource. So only tasks and resources are worked out again that
// have changed, or touch others that came out differently: they have moved. What users take of a
// resource is counted in whole parts of it: so the sum does not depend on how it was come by.
#include "fluid.hpp"

#include <cmath>

namespace noctule {

namespace {

// An offer that exceeds a step by less may be the one that limits it.
constexpr double hardly_more = 1 + 1e-12;
// Where so large a part of the tasks moves, one by one costs more than all together.
constexpr double many_tasks = 0.5;
constexpr double solves_on_average = 8;
// A capacity has between 2^60 and 2^61 parts: a few of them fit into a number.
constexpr int parts_exponent = 60;

double parts_of_unit(double capacity) {
    return capacity > 0 ? std::ldexp(1.0, parts_exponent - std::ilogb(capacity)) : 1.0;
}

std::int64_t parts(double amount, double scale) {
    return static_cast<std::int64_t>(amount * scale);
}

} // namespace

template <typename Visit> void Fluid::for_each_slot(const Task& task, Visit visit) const {
    for (const Group& group : task.groups) {
        const Slot* const first = task.slots.data() + group.first;
        for (const Slot* slot = first; slot != first + group.n_contended; ++slot) {
            visit(*slot, group);
        }
    }
}

const std::vector<Fluid::User>& Fluid::users_of(Slot slot) const {
    return resources_[contended_[slot].resource].users;
}

bool Fluid::may_follow() {
    if (n_unfollowed_ > 0) {
        --n_unfollowed_;
        return false;
    }
    return sharing_ == Sharing::fair_bottleneck && n_slow_ == 0 && n_fat_uses_ == 0;
}

// Returns false if there are so many rounds that resources which were left out could have mattered,
// or if a decision hangs on roundings.
bool Fluid::follow_changes() {
    ++epoch_;
    moved_tasks_.clear();
    growing_tasks_.clear();
    moved_slots_.clear();
    for (Round& round : rounds_) {
        round.shares.resize(contended_.size());
        round.takings.resize(contended_.size());
        round.levels.resize(contended_.size());
        round.steps.resize(tasks_.size());
    }
    take_up_changes();
    for (int round = 0; !moved_slots_.empty() || !growing_tasks_.empty(); ++round) {
        if (round == most_rounds_) {
            return false;
        }
        round_is_delicate_ = false;
        offer(round);
        grow(round);
        take(round);
        consume(round);
        stop(round);
        note_stops(round);
        close(round);
        if (round_is_delicate_ && !(moved_slots_.empty() && growing_tasks_.empty())) {
            return false;
        }
    }
    if (remembers_) {
        note_effort();
    }
    return true;
}

void Fluid::note_effort() {
    const double moved = static_cast<double>(moved_tasks_.size()) /
                         static_cast<double>(std::max<std::size_t>(n_contending_, 1));
    usually_moved_ += (moved - usually_moved_) / solves_on_average;
    if (usually_moved_ > many_tasks) {
        n_unfollowed_ = solves_before_another_try_;
        usually_moved_ = 0.0;
    }
}

void Fluid::take_up_changes() {
    if (!remembers_) {
        forget_rounds();
    }
    for (const ResourceId id : changed_resources_) {
        if (resources_[id].is_contended()) {
            move_slot(resources_[id].slot);
        }
    }
    for (const TaskId id : changed_tasks_) {
        const Task& task = tasks_[id];
        if (task.is_live && task.n_contended == 0) {
            set_rate(id, task.alone());
        } else if (task.is_live) {
            move_task(id);
        }
    }
}

void Fluid::forget_rounds() {
    for (SlotPart& part : slot_parts_) {
        part.end = 0;
    }
    for (TaskId id = 0; id < tasks_.size(); ++id) {
        if (tasks_[id].is_live && tasks_[id].n_contended > 0) {
            note_task(id);
        }
    }
}

// A task leaves the rounds that are remembered.
void Fluid::forget(const Task& task, TaskId id) {
    const RoundNumber last = task_parts_[id].last;
    if (!remembers_ || last == never_) {
        return;
    }
    for_each_slot(task, [&](Slot slot, const Group& group) {
        const SlotPart& part = slot_parts_[slot];
        std::int64_t taken = 0;
        for (int round = 0; round < part.end && round <= last; ++round) {
            const double step = rounds_[round].steps[id].step;
            taken = parts(group.weight * step * group.count, part.scale);
            rounds_[round].takings[slot].taken -= taken;
        }
        if (last < part.end) {
            rounds_[last].levels[slot].last_taken -= taken;
            rounds_[last].levels[slot].n_stopping -= static_cast<std::int64_t>(group.count);
        }
    });
}

void Fluid::move_task(TaskId id) {
    TaskPart& part = task_parts_[id];
    if (part.moved == epoch_) {
        return;
    }
    moved_tasks_.push_back(id);
    growing_tasks_.push_back(id);
    part = {.moved = epoch_,
            .old_step = part.last == never_ ? 0.0 : rounds_[part.last].steps[id].step,
            .last = undecided_,
            .old_last = part.last};
    for_each_slot(tasks_[id], [&](Slot slot, const Group&) { move_slot(slot); });
}

void Fluid::move_slot(Slot slot) {
    SlotPart& part = slot_parts_[slot];
    if (part.moved != epoch_) {
        moved_slots_.push_back(slot);
        part = {.moved = epoch_,
                .scale = part.scale,
                .end = undecided_,
                .is_used_up = false,
                .old_end = part.end,
                .was_used_up = part.is_used_up};
    }
}

bool Fluid::is_used_up(Slot slot, int round) const {
    return slot_parts_[slot].end == round + 1 && slot_parts_[slot].is_used_up;
}

// Resources with another rest, or other users, make another offer.
void Fluid::offer(int number) {
    Round& round = rounds_[number];
    const std::size_t n_moved = moved_slots_.size(); // those that follow offer what they did
    for (std::size_t i = 0; i < n_moved; ++i) {
        const Slot slot = moved_slots_[i];
        Level& level = round.levels[slot];
        if (number == 0) {
            const Resource& resource = resources_[contended_[slot].resource];
            level.left = resource.capacity;
            level.n_growing = resource.n_uses;
            level.taken_again = 0;
            slot_parts_[slot].scale = parts_of_unit(resource.capacity);
        }
        const double share = level.left / static_cast<double>(level.n_growing);
        const double before = is_new(slot, number) ? infinity : round.shares[slot];
        const double highest = is_new(slot, number) ? infinity : round.takings[slot].highest;
        round.shares[slot] = share;
        if (share != before && std::min(share, before) < highest * hardly_more) {
            move_users(slot, number, std::min(share, before));
        }
    }
}

// Moves the users for whom another offer may mean another step.
void Fluid::move_users(Slot slot, int number, double least) {
    Round& round = rounds_[number];
    double highest = 0.0; // of those that do not move
    for (const User& user : users_of(slot)) {
        if (task_parts_[user.task].last < number || has_moved(user.task)) {
            continue;
        }
        const double taken = round.steps[user.task].step * user.weight;
        if (least < taken * hardly_more) {
            move_task(user.task);
        } else {
            highest = std::max(highest, taken);
        }
    }
    round.takings[slot].highest = highest;
}

void Fluid::grow(int number) {
    Round& round = rounds_[number];
    for (const TaskId id : moved_tasks_) {
        if (task_parts_[id].old_last >= number) {
            task_parts_[id].old_step = round.steps[id].step;
        }
    }
    for (const TaskId id : growing_tasks_) {
        const Task& task = tasks_[id];
        const Step before =
            number == 0 ? Step{0.0, 0.0, task.tightest_capacity} : rounds_[number - 1].steps[id];
        const double step =
            std::min(before.own_left / task.tightest_weight, offer_to(task, number));
        round.steps[id] = grown(task, before, step, number);
    }
}

double Fluid::offer_to(const Task& task, int round) const {
    const double* const shares = rounds_[round].shares.data();
    double least = infinity;
    for (const Group& group : task.groups) {
        const auto slots = std::span(task.slots).subspan(group.first, group.n_contended);
        const double offer = least_of(slots, [&](Slot slot) { return shares[slot]; });
        least = std::min(least, offer / group.weight);
    }
    return least;
}

// Sums up what users take that grow, where they take something else than before.
void Fluid::take(int number) {
    Taking* const takings = rounds_[number].takings.data();
    for (const TaskId id : moved_tasks_) {
        const TaskPart& part = task_parts_[id];
        if (std::max(part.last, part.old_last) < number) {
            continue;
        }
        const double now = part.last >= number ? rounds_[number].steps[id].step : 0.0;
        const double before = part.old_last >= number ? part.old_step : 0.0;
        for_each_slot(tasks_[id], [&](Slot slot, const Group& group) {
            const double scale = is_new(slot, number) ? 0.0 : slot_parts_[slot].scale;
            Taking& taking = takings[slot];
            taking.highest = std::max(taking.highest, group.weight * now);
            taking.taken += parts(group.weight * now * group.count, scale) -
                            parts(group.weight * before * group.count, scale);
        });
    }
    for (const Slot slot : moved_slots_) {
        if (is_new(slot, number)) {
            takings[slot].taken = 0;
            for (const User& user : users_of(slot)) {
                const bool grows = task_parts_[user.task].last >= number;
                const double step = grows ? rounds_[number].steps[user.task].step : 0.0;
                takings[slot].taken +=
                    parts(user.weight * step * user.count, slot_parts_[slot].scale);
            }
        }
    }
}

void Fluid::consume(int number) {
    const Taking* const takings = rounds_[number].takings.data();
    const Level* const levels = rounds_[number].levels.data();
    Level* const next = rounds_[number + 1].levels.data();
    used_up_.clear();
    reopened_.clear();
    for (const Slot slot : moved_slots_) {
        SlotPart& part = slot_parts_[slot];
        const std::int64_t taken = takings[slot].taken + levels[slot].taken_again;
        const double left = levels[slot].left - static_cast<double>(taken) / part.scale;
        next[slot].left = left;
        const Resource& resource = resources_[contended_[slot].resource];
        round_is_delicate_ |=
            is_near_nothing(left, resource.capacity, resource.n_uses * (number + 1.0));
        if (left < nothing_) {
            part.end = static_cast<RoundNumber>(number + 1);
            part.is_used_up = true;
            used_up_.push_back(slot);
        } else if (part.old_end == number + 1 && part.was_used_up) {
            reopened_.push_back(slot);
        }
    }
}

void Fluid::stop(int number) {
    const std::vector<Step>& steps = rounds_[number].steps;
    for (const TaskId id : growing_tasks_) {
        if (stops(tasks_[id], steps[id])) {
            task_parts_[id].last = static_cast<RoundNumber>(number);
        }
    }
    std::ranges::for_each(used_up_, [&](Slot slot) { stop_users(slot, number); });
    std::ranges::for_each(reopened_, [&](Slot slot) { revive_users(slot, number); });
    std::erase_if(growing_tasks_, [&](TaskId id) {
        const bool has_stopped = task_parts_[id].last == number;
        if (has_stopped) {
            set_rate(id, steps[id].rate);
        }
        return has_stopped;
    });
}

void Fluid::stop_users(Slot slot, int number) {
    for (const User& user : users_of(slot)) {
        if (task_parts_[user.task].last > number) {
            move_task(user.task);
            task_parts_[user.task].last = static_cast<RoundNumber>(number);
        }
    }
}

// Tasks that stop here, but did not, take what they took last in all further rounds.
void Fluid::note_stops(int number) {
    Level* const levels = rounds_[number].levels.data();
    for (const TaskId id : moved_tasks_) {
        const TaskPart& part = task_parts_[id];
        const int change = (part.last == number) - (part.old_last == number);
        const double now = part.last == number ? rounds_[number].steps[id].step : 0.0;
        const double before = part.old_last == number ? part.old_step : 0.0;
        if (now == before && change == 0) {
            continue;
        }
        for_each_slot(tasks_[id], [&](Slot slot, const Group& group) {
            const double scale = is_new(slot, number) ? 0.0 : slot_parts_[slot].scale;
            levels[slot].last_taken += parts(group.weight * now * group.count, scale) -
                                       parts(group.weight * before * group.count, scale);
            levels[slot].n_stopping += change * static_cast<std::int64_t>(group.count);
        });
    }
}

// What is left to the next round.
void Fluid::close(int number) {
    Level* const levels = rounds_[number].levels.data();
    Level* const next = rounds_[number + 1].levels.data();
    std::erase_if(moved_slots_, [&](Slot slot) {
        SlotPart& part = slot_parts_[slot];
        Level& level = levels[slot];
        if (is_new(slot, number)) {
            level.last_taken = level.n_stopping = 0;
            for (const User& user : users_of(slot)) {
                if (task_parts_[user.task].last == number) {
                    const double step = rounds_[number].steps[user.task].step;
                    level.last_taken += parts(user.weight * step * user.count, part.scale);
                    level.n_stopping += static_cast<std::int64_t>(user.count);
                }
            }
        }
        next[slot].taken_again = level.taken_again + level.last_taken;
        next[slot].n_growing = level.n_growing - level.n_stopping;
        if (part.end == undecided_ && next[slot].n_growing == 0) {
            part.end = static_cast<RoundNumber>(number + 1);
        }
        return part.end != undecided_;
    });
}

// Users that stopped because this resource was used up may go on now.
void Fluid::revive_users(Slot slot, int number) {
    for (const User& user : users_of(slot)) {
        if (!has_moved(user.task) && task_parts_[user.task].last == number &&
            goes_on(user.task, number)) {
            move_task(user.task);
        }
    }
}

bool Fluid::goes_on(TaskId id, int number) const {
    const Step& step = rounds_[number].steps[id];
    bool goes_on = !stops(tasks_[id], step);
    for_each_slot(tasks_[id],
                  [&](Slot slot, const Group&) { goes_on = goes_on && !is_used_up(slot, number); });
    return goes_on;
}

} // namespace noctule
