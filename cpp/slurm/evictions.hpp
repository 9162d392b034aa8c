// What a pass does about running jobs that are in the way of one that may preempt them.
#pragma once

#include "slurm/controller.hpp"

#include <optional>
#include <vector>

namespace noctule::slurm {

class Evictions {
  public:
    explicit Evictions(Controller& controller) : controller_(controller) {}

    bool are_possible() const { return controller_.preemption().is_on(); }
    void begin_pass() { preempting_.clear(); }
    // Whether others make way for the job since this pass has begun: it waits for them.
    bool are_under_way_for(JobIndex job) const;

    // Finds the running jobs that a record's job may preempt: a trial is to name them.
    void look(const QueueRecord& record, JobIndex job, Seconds now);
    Trial named(Trial trial) const;

    // Nodes on which it can start now, over jobs that will be suspended; or nothing, and jobs that
    // are in the way make way if that helps. If limits hold it back nobody does, and they will
    // hold it back where it would start: those nodes.
    std::optional<Choice> make_room(const Moment& moment, const QueueRecord& record, Trial trial);

  private:
    std::optional<Choice> start_over(const Trial& trial);
    bool waits_for_others(JobIndex job, Seconds now) const;

    Controller& controller_;
    std::vector<JobIndex> preempting_;
    // Of the record that was looked at.
    std::vector<RunningJob> leaving_;    // cancelled or requeued
    std::vector<RunningJob> suspending_; // suspended by gang scheduling
    std::vector<JobIndex> gone_, over_;
};

} // namespace noctule::slurm
