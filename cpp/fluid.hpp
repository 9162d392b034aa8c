// How fast tasks progress that share resources.
//
// A task uses each of its resources in proportion to its one rate. What has changed is solved
// component by component: tasks that are joined by contended resources. A resource is not contended
// if it has one user, whose rate it bounds, or if its users, each with all that it could take
// alone, would hardly fill it.
#pragma once

#include "types.hpp"

#include <algorithm>
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

    struct User {
        TaskId task;
        std::uint32_t place; // among the uses of the task
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
        std::uint64_t seen = 0; // epoch of its component
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

    // What the rounds of a solver run over: the tasks of a component, and contended resources.
    struct Member {
        TaskId task;
        std::uint32_t first; // of its groups
        std::uint32_t last;
        bool is_live;
        double bound;
        double own_left; // of its tightest resource, as if it had it alone
        double own_weight;
        double rate;
        double step; // of the last round in which it grew
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
    void list(Slot slot);
    void solve_component(TaskId from);
    bool solve_fair_bottleneck(bool in_few_rounds);
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
    // By slot.
    std::vector<Contended> contended_;
    std::vector<std::uint64_t> seen_;  // epoch of the component
    std::vector<double> shares_;       // offered to each user
    std::vector<double> taken_;        // in this round, by tasks that grow
    std::vector<double> frozen_taken_; // in every round, by tasks that no longer grow
    std::vector<double> n_growing_;    // counts of users
    std::vector<Slot> spare_slots_;
};

} // namespace noctule
