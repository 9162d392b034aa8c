// How fast tasks progress that share resources.
//
// A task uses each of its resources in proportion to its one rate. Only contended resources take
// part: one is not if it has one user, whose rate it bounds, or if its users, each with all that it
// could take alone, would hardly fill it. Usually what each round of the last solve has found is
// known, and only what differs is followed from round to round (fluid_rounds.cpp); otherwise what
// has changed is solved component by component: tasks that are joined by contended resources
// (fluid_sharing.cpp).
#pragma once

#include "types.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace noctule {

using ResourceId = std::uint32_t;
using TaskId = std::uint32_t;

// A resource that a task uses: so much of it for a rate of 1.
struct Use {
    ResourceId resource;
    double weight;           // > 0
    std::uint32_t count = 1; // as many users with that weight
};

enum class Sharing : std::uint8_t {
    fair_bottleneck, // SimGrid's numbers, with the two defects that its users live with
    max_min,         // the textbook's: equal rates, until a resource is full
};

class Fluid {
  public:
    explicit Fluid(Sharing sharing) : sharing_(sharing) {}

    ResourceId add_resource(double capacity, bool fatpipe);
    void set_capacity(ResourceId resource, double capacity);
    double capacity(ResourceId resource) const { return resources_[resource].capacity; }

    // The bound of a rate is positive, or infinite.
    TaskId add(std::span<const Use> uses, double bound);
    void remove(TaskId task);
    void set_bound(TaskId task, double bound);

    // As of the last solve.
    double rate(TaskId task) const { return tasks_[task].rate; }
    // How much of a resource is in use; on a fat pipe, by its largest user.
    double usage(ResourceId resource) const;

    template <typename Visit> void for_each_user(ResourceId resource, Visit visit) const {
        for (const User& user : resources_[resource].users) {
            visit(user.task);
        }
    }

    // Works out new rates where something has changed, and returns the tasks that have another.
    // Valid until the next call.
    std::span<const TaskId> solve();

  private:
    using Slot = std::uint32_t; // of a contended resource
    static constexpr Slot no_slot = 0xffffffff;
    // A resource is left out where it could offer its users what each would take alone, after they
    // have all taken that so many times. A task takes its rate once, and its last step again in
    // each further round: for so many rounds, the offer of such a resource is never the least.
    static constexpr int most_rounds_ = 10;
    // SimGrid's precision of amounts: less of a resource than this is nothing.
    static constexpr double nothing_ = 1e-5;

    struct User {
        TaskId task;
        std::uint32_t place; // among the uses of the task
        double weight;
        double count;
    };
    struct Resource {
        double capacity;
        // At the rates that its users would have alone.
        double largest_use = 0.0;
        double all_uses = 0.0;
        std::uint32_t n_uses = 0; // counts of the users
        Slot slot = no_slot;      // if its users may get less than they could take
        bool fatpipe;
        bool has_slow_user = false;
        bool is_changed = false;
        std::vector<User> users;

        bool is_contended() const { return slot != no_slot; }
    };
    // A use without its amounts, which it shares with its group.
    struct Held {
        ResourceId resource;
        std::uint32_t place; // among the users of the resource
        std::uint32_t group;
    };
    // Uses in a row that are alike; those of contended resources come first.
    struct Group {
        double weight;
        double count;
        std::uint32_t first;
        std::uint32_t n_contended = 0;
    };
    struct Task {
        double bound = infinity;
        double rate = 0.0;
        // The tightest of its resources, as if it had them alone.
        double tightest_capacity = infinity;
        double tightest_weight = 1.0;
        std::uint64_t sequence = 0; // in the order of adding
        std::uint64_t seen = 0;     // epoch of its component
        std::uint32_t member = 0;
        std::uint32_t n_contended = 0; // uses
        bool is_changed = false;
        bool is_live = false;
        bool is_slow = false; // its component takes many rounds
        std::vector<Held> uses;
        std::vector<Slot> slots; // by use; only those of contended resources mean something
        std::vector<Group> groups;

        double alone() const { return std::min(bound, tightest_capacity / tightest_weight); }
    };

    // What a round has found of a task.
    struct Step {
        double step;
        double rate;     // after it
        double own_left; // after it, of its tightest resource, as if it had it alone
    };

    // What the rounds of a solver run over: the tasks of a component, and contended resources.
    struct Member {
        TaskId task;
        std::uint32_t first; // of its groups
        std::uint32_t last;
        bool is_live;
        double bound;
        Step state; // since the last round in which it grew
    };
    struct MemberGroup {
        double weight;
        double count;
        std::uint32_t first; // of its slots
        std::uint32_t last;
    };
    struct Contended {
        ResourceId resource;
        bool fatpipe;
        double left;
        double least_taken; // of one user, for fat pipes
        double frozen_least;
        std::uint32_t first = 0; // of its takers, where they are taken one by one
        std::uint32_t last = 0;
    };
    struct Taker {
        std::uint64_t sequence;
        double weight;
        std::uint32_t count;
        std::uint32_t member;
    };

    // What a round has found of a contended resource. What is taken is in parts.
    struct Taking {
        double highest;     // at least what one user takes
        std::int64_t taken; // by tasks that grow
    };
    struct Level {
        double left;              // before it
        std::int64_t taken_again; // by tasks that have stopped before
        std::int64_t last_taken;  // by those that stop here
        std::int64_t n_growing;   // counts of users
        std::int64_t n_stopping;
    };
    struct Round {
        std::vector<double> shares; // by slot, as the next two
        std::vector<Taking> takings;
        std::vector<Level> levels;
        std::vector<Step> steps; // by task
    };
    static constexpr int solves_before_another_try_ = 500;
    using RoundNumber = std::int8_t;
    static constexpr RoundNumber undecided_ = 0x7f;
    static constexpr RoundNumber never_ = -1;
    // The part that a contended resource or a task has in the rounds; and had in those of the last
    // solve, if it has moved.
    struct SlotPart {
        std::uint64_t moved = 0; // an epoch
        double scale = 1.0;      // parts in a unit of its capacity
        RoundNumber end = 0;     // the first round without it
        bool is_used_up = false; // why it ended
        RoundNumber old_end = 0;
        bool was_used_up = false;
    };
    struct TaskPart {
        std::uint64_t moved = 0;   // an epoch
        double old_step = 0.0;     // in the round that is followed
        RoundNumber last = never_; // round in which it grows
        RoundNumber old_last = never_;
    };

    void note_task(TaskId task);
    void note_resource(ResourceId resource);
    void find_tightest(Task& task);
    static void admit(Resource& resource, double weight, double count, double rate);
    static bool may_run_short(const Resource& resource);
    void recheck(ResourceId resource);
    void set_contended(ResourceId resource, bool contended);
    void move_use(TaskId task, std::uint32_t place, Slot slot);
    void swap_uses(Task& task, std::uint32_t a, std::uint32_t b);
    void contend_all();
    void collect(TaskId from);
    void list_resources(TaskId id);
    void add_member(TaskId id);
    std::span<const MemberGroup> groups_of(const Member& member) const {
        return std::span(groups_).subspan(member.first, member.last - member.first);
    }
    std::span<const Slot> slots_of(const MemberGroup& group) const {
        return std::span(slots_).subspan(group.first, group.last - group.first);
    }
    // The least of what some slots have, by four at a time.
    template <typename Value> static double least_of(std::span<const Slot> slots, Value value) {
        const auto lesser = [](double a, double b) { return b < a ? b : a; }; // without a branch
        double least[4] = {infinity, infinity, infinity, infinity};
        std::size_t i = 0;
        for (; i + 4 <= slots.size(); i += 4) {
            for (std::size_t lane = 0; lane < 4; ++lane) {
                least[lane] = lesser(least[lane], value(slots[i + lane]));
            }
        }
        for (; i < slots.size(); ++i) {
            least[0] = lesser(least[0], value(slots[i]));
        }
        return lesser(lesser(least[0], least[1]), lesser(least[2], least[3]));
    }
    void list(Slot slot);
    void solve_components();
    void solve_component(TaskId from);
    void solve_as_simgrid(TaskId from);

    // By rounds that are remembered (fluid_rounds.cpp).
    bool may_follow();
    bool follow_changes();
    void note_effort();
    void take_up_changes();
    void forget_rounds();
    void forget(const Task& task, TaskId id);
    void move_task(TaskId task);
    void move_slot(Slot slot);
    bool has_moved(TaskId task) const { return task_parts_[task].moved == epoch_; }
    bool is_new(Slot slot, int round) const { return round >= slot_parts_[slot].old_end; }
    bool is_used_up(Slot slot, int round) const;
    template <typename Visit> void for_each_slot(const Task& task, Visit visit) const;
    const std::vector<User>& users_of(Slot slot) const;
    void offer(int round);
    void move_users(Slot slot, int round, double least);
    void grow(int round);
    double offer_to(const Task& task, int round) const;
    void take(int round);
    void consume(int round);
    void stop(int round);
    void stop_users(Slot slot, int round);
    void note_stops(int round);
    void close(int round);
    void revive_users(Slot slot, int round);
    bool goes_on(TaskId task, int round) const;

    bool solve_fair_bottleneck(bool in_few_rounds);
    static bool is_near_nothing(double left, double capacity, double n_roundings);
    Step grown(const Task& task, const Step& before, double step, int round);
    static bool stops(const Task& task, const Step& step) {
        return step.rate == task.bound || step.own_left < nothing_;
    }
    void list_takers();
    double left_one_by_one(const Contended& resource) const;
    void share_out();
    void grow();
    void note_least_taken();
    void consume();
    void freeze(const Member& member);
    void solve_max_min();
    double raise_level(double level);
    void set_rate(TaskId id, double rate);

    Sharing sharing_;
    std::vector<Resource> resources_;
    std::vector<Task> tasks_;
    std::size_t n_contending_ = 0; // tasks that use contended resources
    std::size_t n_slow_ = 0;       // tasks
    std::size_t n_fat_uses_ = 0;   // of fat pipes
    std::vector<TaskId> spare_;
    std::vector<TaskId> changed_tasks_;
    std::vector<ResourceId> changed_resources_;
    std::vector<TaskId> rate_changes_;

    std::uint64_t epoch_ = 0;
    std::vector<TaskId> joined_; // tasks of the component, as they are found
    std::vector<Member> members_;
    std::vector<MemberGroup> groups_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> growing_; // members
    std::vector<Slot> listed_;
    bool has_fatpipes_ = false;
    std::uint64_t sequence_ = 0;
    int round_ = 0;
    bool is_delicate_ = false; // some decision has hung on how sums are rounded
    bool round_is_delicate_ = false;
    bool takes_one_by_one_ = false; // with SimGrid's roundings
    std::vector<Taker> takers_;
    // By slot.
    std::vector<Contended> contended_;
    std::vector<std::uint64_t> seen_;  // epoch of the component
    std::vector<double> shares_;       // offered to each user
    std::vector<double> taken_;        // in this round, by tasks that grow
    std::vector<double> frozen_taken_; // in every round, by tasks that no longer grow
    std::vector<double> n_growing_;    // counts of users
    std::vector<Slot> spare_slots_;

    // The rounds of the last solve, if it was followed.
    bool remembers_ = false;
    int n_unfollowed_ = 0;       // solves to come, before it is tried again
    double usually_moved_ = 0.0; // part of the tasks
    std::array<Round, most_rounds_ + 1> rounds_;
    std::vector<SlotPart> slot_parts_;
    std::vector<TaskPart> task_parts_;
    // What differs from then.
    std::vector<TaskId> moved_tasks_;
    std::vector<TaskId> growing_tasks_; // of those that have moved
    std::vector<Slot> moved_slots_;
    std::vector<Slot> used_up_;  // in this round
    std::vector<Slot> reopened_; // used up in this round, last time
};

} // namespace noctule
