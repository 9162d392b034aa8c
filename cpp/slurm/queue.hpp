// Pending jobs as schedulers walk them: one record for each partition that a job may use, the tasks
// of an array behind the first of them.
#pragma once

#include "slurm/priority.hpp"

#include <deque>
#include <unordered_map>
#include <vector>

namespace noctule::slurm {

struct QueueRecord {
    JobIndex job; // of an array, its first pending task
    std::uint32_t partition;
    std::uint32_t position; // of the partition in the request
    std::uint32_t tier;
    std::uint32_t priority;
    bool reserved;          // in a reservation: such jobs come first
    std::uint32_t rank = 0; // of its QOS, where some preempt others: they come before all else
    bool live;              // false once the job has left; such records go when a pass is over
};

class Queue {
  public:
    Queue(const Settings& settings, const Requests& requests, const Priority& priority);

    void add(JobIndex job);
    // A job that has started or was cancelled; its array, if any, goes on with the next task.
    void remove(JobIndex job);
    void sort_afresh();
    // Drops dead records: not while somebody walks them.
    void compact();

    // In order; the job of a record changes when a task of an array leaves.
    const std::vector<QueueRecord>& records() const { return records_; }
    // The place of a record, or of the next one if it has left.
    std::size_t first_from(const QueueRecord& record) const;
    bool empty() const { return n_jobs_ == 0; }
    std::size_t n_jobs() const { return n_jobs_; }
    // Changes other than records that come last.
    std::uint64_t n_changes() const { return n_changes_; }
    std::uint32_t n_records(std::uint32_t partition) const { return n_records_[partition]; }
    // Pending tasks of the array of a job, itself the first of them; one for other jobs.
    std::size_t n_tasks(JobIndex job) const;
    // The k-th of them.
    JobIndex task(JobIndex job, std::size_t k) const;

  private:
    static bool comes_before(const QueueRecord& one, const QueueRecord& other);
    QueueRecord record_of(JobIndex job, std::uint32_t position) const;
    void add_records(JobIndex job);
    // Of a record; components of heterogeneous jobs may have one for all (bf_hetjob_prio).
    std::uint32_t priority_of(JobIndex job, std::uint32_t position) const;
    bool joins_components(JobIndex job) const {
        return settings_.parameters.bf_hetjob_prio != Parameters::HetPriority::own &&
               requests_[job].het != none;
    }
    std::vector<QueueRecord>::iterator find(JobIndex job, std::uint32_t position);

    const Settings& settings_;
    const Requests& requests_;
    const Priority& priority_;
    std::vector<std::uint32_t> qos_ranks_; // empty unless QOS preempt each other
    std::vector<QueueRecord> records_;
    std::vector<std::uint32_t> n_records_;                                // live ones, by partition
    std::unordered_map<std::uint32_t, std::deque<JobIndex>> arrays_;      // pending tasks
    std::unordered_map<std::uint32_t, std::vector<JobIndex>> components_; // where they are joined
    std::size_t n_jobs_ = 0;
    std::size_t n_dead_ = 0;
    std::uint64_t n_changes_ = 0;
};

} // namespace noctule::slurm
