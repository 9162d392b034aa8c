#include "fluid.hpp"

namespace noctule {

namespace {

// Resources with so few users are looked at again when one leaves.
constexpr std::size_t few_users = 16;

} // namespace

ResourceId Fluid::add_resource(double capacity, bool fatpipe) {
    resources_.push_back({.capacity = capacity, .fatpipe = fatpipe, .users = {}});
    return static_cast<ResourceId>(resources_.size() - 1);
}

void Fluid::note_task(TaskId task) {
    if (!tasks_[task].is_changed) {
        tasks_[task].is_changed = true;
        changed_tasks_.push_back(task);
    }
}

void Fluid::note_resource(ResourceId resource) {
    if (!resources_[resource].is_changed) {
        resources_[resource].is_changed = true;
        changed_resources_.push_back(resource);
    }
}

void Fluid::set_capacity(ResourceId id, double capacity) {
    Resource& resource = resources_[id];
    resource.capacity = capacity;
    for (const User& user : resource.users) {
        Task& task = tasks_[user.task];
        find_tightest(task);
        note_task(user.task);
        for (const Held& held : task.uses) { // it may take more of the others now
            recheck(held.resource);
        }
    }
    recheck(id);
    if (resource.is_contended()) {
        slot_parts_[resource.slot].end = 0; // it is another one now
    }
    note_resource(id);
}

TaskId Fluid::add(std::span<const Use> uses, double bound) {
    TaskId id = static_cast<TaskId>(tasks_.size());
    if (spare_.empty()) {
        tasks_.emplace_back();
    } else {
        id = spare_.back();
        spare_.pop_back();
    }
    Task& task = tasks_[id];
    task.bound = bound;
    task.rate = 0.0;
    task.is_live = true;
    task.is_slow = false;
    task.sequence = ++sequence_;
    task.n_contended = 0;
    for (const Use& use : uses) {
        const auto place = static_cast<std::uint32_t>(task.uses.size());
        if (task.groups.empty() || task.groups.back().weight != use.weight ||
            task.groups.back().count != use.count) {
            task.groups.push_back({use.weight, static_cast<double>(use.count), place});
        }
        Resource& resource = resources_[use.resource];
        task.uses.push_back({use.resource, static_cast<std::uint32_t>(resource.users.size()),
                             static_cast<std::uint32_t>(task.groups.size() - 1)});
        resource.users.push_back({id, place, use.weight, static_cast<double>(use.count)});
        resource.n_uses += use.count;
        n_fat_uses_ += resource.fatpipe;
    }
    task.slots.assign(uses.size(), no_slot);
    find_tightest(task);
    task_parts_.resize(tasks_.size());
    task_parts_[id].last = never_;
    for (const Use& use : uses) {
        Resource& resource = resources_[use.resource];
        admit(resource, use.weight, use.count, task.alone());
        if (!resource.is_contended() && may_run_short(resource)) {
            set_contended(use.resource, true);
        }
    }
    for (std::uint32_t place = 0; place < task.uses.size(); ++place) {
        if (const Resource& resource = resources_[task.uses[place].resource];
            resource.is_contended()) {
            move_use(id, place, resource.slot);
        }
    }
    note_task(id);
    return id;
}

void Fluid::find_tightest(Task& task) {
    task.tightest_capacity = infinity;
    task.tightest_weight = 1.0;
    double least = infinity;
    for (const Held& held : task.uses) {
        const Resource& resource = resources_[held.resource];
        const Group& group = task.groups[held.group];
        const double weight = group.weight * group.count;
        if (!resource.fatpipe && resource.capacity < least * weight) {
            least = resource.capacity / weight;
            task.tightest_capacity = resource.capacity;
            task.tightest_weight = weight;
        }
    }
}

// Counts a user that may have such a rate.
void Fluid::admit(Resource& resource, double weight, double count, double rate) {
    resource.largest_use = std::max(resource.largest_use, weight * rate);
    resource.all_uses += weight * count * rate;
}

// Fat pipes do not even bound their users one by one.
bool Fluid::may_run_short(const Resource& resource) {
    const double wanted =
        resource.largest_use * resource.n_uses + resource.all_uses * (most_rounds_ + 1);
    return resource.fatpipe ||
           (resource.users.size() > 1 && (resource.has_slow_user || wanted > resource.capacity));
}

void Fluid::recheck(ResourceId id) {
    Resource& resource = resources_[id];
    resource.largest_use = 0.0;
    resource.all_uses = 0.0;
    resource.has_slow_user = false;
    for (const User& user : resource.users) {
        const Task& task = tasks_[user.task];
        admit(resource, user.weight, user.count, task.alone());
        resource.has_slow_user |= task.is_slow;
    }
    if (const bool contended = may_run_short(resource); contended != resource.is_contended()) {
        set_contended(id, contended);
    }
}

void Fluid::set_contended(ResourceId id, bool contended) {
    Resource& resource = resources_[id];
    if (!contended) {
        spare_slots_.push_back(resource.slot);
        resource.slot = no_slot;
    } else if (spare_slots_.empty()) {
        resource.slot = static_cast<Slot>(contended_.size());
        contended_.emplace_back();
        seen_.push_back(0);
        slot_parts_.emplace_back();
        for (std::vector<double>* column : {&shares_, &taken_, &frozen_taken_, &n_growing_}) {
            column->push_back(0.0);
        }
    } else {
        resource.slot = spare_slots_.back();
        spare_slots_.pop_back();
    }
    if (contended) {
        contended_[resource.slot].resource = id;
        contended_[resource.slot].fatpipe = resource.fatpipe;
        slot_parts_[resource.slot].end = 0; // it took no part so far
        note_resource(id);
    }
    for (const User& user : resource.users) {
        move_use(user.task, user.place, resource.slot);
        if (!contended) { // it may have been what limited them
            note_task(user.task);
        }
    }
}

// Brings a use to where those of contended resources are in its group, or the others.
void Fluid::move_use(TaskId id, std::uint32_t place, Slot slot) {
    Task& task = tasks_[id];
    Group& group = task.groups[task.uses[place].group];
    const bool is_there = place - group.first < group.n_contended;
    if (slot != no_slot && !is_there) {
        task.slots[place] = slot;
        swap_uses(task, place, group.first + group.n_contended++);
        if (task.n_contended++ == 0) {
            ++n_contending_;
            note_task(id);
        }
    } else if (slot == no_slot && is_there) {
        swap_uses(task, place, group.first + --group.n_contended);
        n_contending_ -= --task.n_contended == 0;
    }
}

void Fluid::swap_uses(Task& task, std::uint32_t a, std::uint32_t b) {
    std::vector<Held>& uses = task.uses;
    resources_[uses[a].resource].users[uses[a].place].place = b;
    resources_[uses[b].resource].users[uses[b].place].place = a;
    std::swap(uses[a], uses[b]);
    std::swap(task.slots[a], task.slots[b]);
}

void Fluid::remove(TaskId id) {
    Task& task = tasks_[id];
    forget(task, id);
    for (const Held& held : task.uses) {
        Resource& resource = resources_[held.resource];
        const Group& group = task.groups[held.group];
        std::vector<User>& users = resource.users;
        users[held.place] = users.back();
        tasks_[users[held.place].task].uses[users[held.place].place].place = held.place;
        users.pop_back();
        resource.n_uses -= static_cast<std::uint32_t>(group.count);
        n_fat_uses_ -= resource.fatpipe;
        resource.all_uses -= group.weight * group.count * task.alone();
    }
    for (const Held& held : task.uses) {
        if (resources_[held.resource].is_contended()) {
            note_resource(held.resource);
        }
        if (resources_[held.resource].users.size() <= few_users) {
            recheck(held.resource);
        }
    }
    n_contending_ -= task.n_contended > 0;
    n_slow_ -= task.is_slow;
    task.uses.clear();
    task.groups.clear();
    task.rate = 0.0;
    task.is_live = false;
    spare_.push_back(id);
}

void Fluid::set_bound(TaskId id, double bound) {
    Task& task = tasks_[id];
    if (task.bound != bound) {
        task.bound = bound;
        for (const Held& held : task.uses) { // it may take more of them now
            recheck(held.resource);
        }
        note_task(id);
    }
}

double Fluid::usage(ResourceId id) const {
    const Resource& resource = resources_[id];
    double total = 0.0;
    for (const User& user : resource.users) {
        const double used = user.weight * user.count * tasks_[user.task].rate;
        total = resource.fatpipe ? std::max(total, used) : total + used;
    }
    return total;
}

std::span<const TaskId> Fluid::solve() {
    rate_changes_.clear();
    if (changed_tasks_.empty() && changed_resources_.empty()) {
        return rate_changes_;
    }
    const bool follows = may_follow();
    remembers_ = follows && follow_changes();
    if (!remembers_) {
        n_unfollowed_ = follows ? solves_before_another_try_ : n_unfollowed_;
        solve_components();
    }
    for (const ResourceId id : changed_resources_) {
        resources_[id].is_changed = false;
    }
    for (const TaskId id : changed_tasks_) {
        tasks_[id].is_changed = false;
    }
    changed_resources_.clear();
    changed_tasks_.clear();
    return rate_changes_;
}

void Fluid::solve_components() {
    for (const ResourceId id : changed_resources_) {
        for (const User& user : resources_[id].users) {
            note_task(user.task);
        }
    }
    const std::uint64_t before = epoch_;
    for (std::size_t i = 0; i < changed_tasks_.size(); ++i) { // more may come
        const TaskId id = changed_tasks_[i];
        Task& task = tasks_[id];
        if (!task.is_live || task.seen > before) {
            continue;
        }
        if (task.n_contended == 0) {
            set_rate(id, task.alone());
        } else {
            solve_component(id);
        }
    }
}

void Fluid::set_rate(TaskId id, double rate) {
    if (tasks_[id].rate != rate) {
        tasks_[id].rate = rate;
        rate_changes_.push_back(id);
    }
}

void Fluid::solve_component(TaskId from) {
    collect(from);
    if (sharing_ == Sharing::max_min) {
        solve_max_min();
    } else {
        solve_as_simgrid(from);
    }
    for (const Member& member : members_) {
        set_rate(member.task, member.state.rate);
    }
}

// Gathers the tasks that are joined to one by contended resources.
void Fluid::collect(TaskId from) {
    ++epoch_;
    joined_.clear();
    members_.clear();
    groups_.clear();
    slots_.clear();
    growing_.clear();
    listed_.clear();
    has_fatpipes_ = false;
    tasks_[from].seen = epoch_;
    joined_.push_back(from);
    std::size_t n_looked_at = 0;
    while (n_looked_at < joined_.size() && joined_.size() < n_contending_) {
        list_resources(joined_[n_looked_at++]);
    }
    if (joined_.size() == n_contending_) { // all are joined: so are all contended resources
        for (Slot slot = 0; slot < contended_.size(); ++slot) {
            if (seen_[slot] != epoch_ && resources_[contended_[slot].resource].slot == slot) {
                list(slot);
            }
        }
    }
    for (const TaskId id : joined_) {
        add_member(id);
    }
}

void Fluid::list_resources(TaskId id) {
    const Task& task = tasks_[id];
    for (const Group& group : task.groups) {
        for (const Slot slot : std::span(task.slots).subspan(group.first, group.n_contended)) {
            if (seen_[slot] != epoch_) {
                list(slot);
            }
        }
    }
}

void Fluid::add_member(TaskId id) {
    Task& task = tasks_[id];
    task.member = static_cast<std::uint32_t>(members_.size());
    growing_.push_back(task.member);
    const auto first = static_cast<std::uint32_t>(groups_.size());
    for (const Group& group : task.groups) {
        if (group.n_contended > 0) {
            const auto slot = static_cast<std::uint32_t>(slots_.size());
            const auto begin = task.slots.begin() + group.first;
            slots_.insert(slots_.end(), begin, begin + group.n_contended);
            groups_.push_back({group.weight, group.count, slot, slot + group.n_contended});
        }
    }
    members_.push_back({.task = id,
                        .first = first,
                        .last = static_cast<std::uint32_t>(groups_.size()),
                        .is_live = true,
                        .bound = task.bound,
                        .state = {0.0, 0.0, task.tightest_capacity}});
}

// Takes a resource into the component, with all of its users.
void Fluid::list(Slot slot) {
    seen_[slot] = epoch_;
    listed_.push_back(slot);
    Contended& contended = contended_[slot];
    const Resource& resource = resources_[contended.resource];
    contended.left = resource.capacity;
    n_growing_[slot] = resource.n_uses;
    frozen_taken_[slot] = 0.0;
    contended.frozen_least = infinity;
    has_fatpipes_ |= resource.fatpipe;
    if (joined_.size() < n_contending_) {
        for (const User& user : resource.users) {
            if (tasks_[user.task].seen != epoch_) {
                tasks_[user.task].seen = epoch_;
                joined_.push_back(user.task);
            }
        }
    }
}

// Lets no resource with several users be left out, now and later.
void Fluid::contend_all() {
    for (std::size_t next = 0; next < joined_.size(); ++next) {
        n_slow_ += !tasks_[joined_[next]].is_slow;
        tasks_[joined_[next]].is_slow = true;
        for (std::size_t i = 0; i < tasks_[joined_[next]].uses.size(); ++i) {
            Resource& resource = resources_[tasks_[joined_[next]].uses[i].resource];
            resource.has_slow_user = true;
            if (!resource.is_contended() && resource.users.size() > 1) {
                set_contended(tasks_[joined_[next]].uses[i].resource, true);
                list(resource.slot);
            }
        }
    }
}

} // namespace noctule
