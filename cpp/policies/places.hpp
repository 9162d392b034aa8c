// Where EASY backfilling may put jobs: on any hosts, on neighbours, or in one group of hosts.
//
// Each keeps the reservation of the first job in its own terms, and puts another job where it does
// not delay that one: anywhere if it ends by the shadow, otherwise off what is reserved.
#pragma once

#include "policies/policies.hpp"
#include "policies/queue.hpp"

#include <optional>
#include <vector>

namespace noctule {

class AnyHosts {
  public:
    explicit AnyHosts(Allocation allocation) : allocation_(allocation) {}

    // At the beginning of each pass.
    void look(const View&) {}

    // Starts the first job if there are hosts for it.
    bool start(const View& view, const QueuedJob& job, Decisions& decisions);

    // Reserves hosts for the first job, at the first instant from a date on at which there are
    // enough; returns that instant, infinite if there is none.
    double reserve(const View& view, std::uint32_t n_hosts, double from);

    // What may pass the first job then.
    Window window(const View& view, double shadow) const;

    // Starts a job that the window admits if there are hosts for it; narrows the window.
    bool pass(const View& view, const QueuedJob& job, Window& window, Decisions& decisions);

  private:
    Allocation allocation_;
    std::uint32_t extra_ = 0; // hosts that the first job leaves over
};

class Neighbours {
  public:
    void look(const View&) {}
    bool start(const View& view, const QueuedJob& job, Decisions& decisions);
    double reserve(const View& view, std::uint32_t n_hosts, double from);
    Window window(const View& view, double shadow) const;
    bool pass(const View& view, const QueuedJob& job, Window& window, Decisions& decisions);

  private:
    std::optional<Interval> reserved_; // none if the job can never have that many in a row
};

class OneGroup {
  public:
    void look(const View& view);
    bool start(const View& view, const QueuedJob& job, Decisions& decisions);
    double reserve(const View& view, std::uint32_t n_hosts, double from);
    Window window(const View& view, double shadow) const;
    bool pass(const View& view, const QueuedJob& job, Window& window, Decisions& decisions);

  private:
    using Group = Hierarchy::Group;

    template <typename Condition> std::optional<Group> find(Condition&& holds) const;
    std::uint32_t most_free() const;
    void put(const View& view, const QueuedJob& job, Group group, Decisions& decisions);

    std::vector<std::uint32_t> free_; // hosts by group
    std::vector<Group> group_of_job_; // of those that were started
    std::optional<Group> reserved_;   // none if a running job has no walltime
    std::uint32_t extra_ = 0;         // hosts of that group that the first job leaves over
};

} // namespace noctule
