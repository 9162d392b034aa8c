// What chooses nodes for a job: now, and as predicted from the time limits of running jobs.
#pragma once

#include "slurm/holdings.hpp"
#include "slurm/requests.hpp"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace noctule::slurm {

// Nodes and what a job gets of them.
struct Choice {
    NodeSet nodes;
    HostSet hosts;           // of the platform
    std::uint32_t cpus = 0;  // in all
    bool whole_nodes = true; // backfilling plans around them once the job has started
    bool is_shared = false;  // with select/linear: other jobs may come to its nodes
    Holdings shares = {};    // where nodes are shared: what it gets of each
};

struct Prediction {
    Seconds start;
    NodeSet nodes;
};

// What the controller knows of nodes besides the jobs on them; kept by the model.
struct NodeStates {
    NodeSet up;         // not down, drained, or in maintenance
    NodeSet completing; // a job has ended there, its epilogue has not
    NodeSet booting;
};

// What is asked: a job, in one of its partitions, at most from these nodes. `candidates` are
// nodes of the partition that are up and not withdrawn; whether they are idle, shared, or
// completing is the plugin's to see.
struct Trial {
    JobIndex job;
    const Request& request;
    const Partition& partition;
    const NodeSet& candidates;
    std::uint32_t min_nodes;  // within the bounds of the partition and of the QOS
    std::uint32_t max_nodes;  // wanted, at least min_nodes
    Seconds latest = no_date; // predictions of later starts need not be made
    // Running jobs that would make way: `gone` leave their nodes, `over` are suspended under it.
    std::span<const JobIndex> gone = {};
    std::span<const JobIndex> over = {};
};

class Select {
  public:
    virtual ~Select() = default;

    // The nodes to start on now, or nothing if it does not fit: completing ones are left alone.
    // Jobs that are to be gone still hold their nodes.
    virtual std::optional<Choice> run_now(const Trial& trial) = 0;

    // Where and when it would start if running jobs last until their limits: completing nodes
    // count as free. With `now_only` later dates are not tried.
    virtual std::optional<Prediction> will_run(const Trial& trial, Seconds now, bool now_only) = 0;

    // Whether a prediction for later is where a running job is expected to end, and does not
    // depend on today's date before that.
    virtual bool predicts_ends() const { return false; }

    // At most so many of the nodes can serve the job by a date; `none` if that is not known.
    virtual std::uint32_t most_by(const Trial&, Seconds) { return none; }

    // The nodes that it would start on now if the jobs that make way did (for preemption).
    virtual std::optional<Choice> run_without(const Trial&) { return std::nullopt; }
    // Whether jobs over others must choose them one by one.
    virtual bool goes_over_nodes() const { return false; }

    // It is tried in this partition, which may change what it takes in others.
    virtual void keep_whole(const Trial&) {}
    // Whether it could run on these nodes if they were all idle: otherwise it never will.
    virtual bool could_ever_run(const Trial& trial) = 0;

    // Whether some of the nodes are kept from it by others on them, however little it needs.
    virtual bool has_busy(const Trial& trial) const = 0;

    virtual void allocate(JobIndex job, const Request& request, const Choice& choice,
                          Seconds expected_end) = 0;
    virtual void release(JobIndex job) = 0;
    virtual void set_expected_end(JobIndex job, Seconds expected_end) = 0;
    // Nodes without any job, completing ones included.
    virtual const NodeSet& idle() const = 0;
    // Steps of predictions since the last call, for the cost model.
    virtual std::uint64_t take_prediction_steps() = 0;
};

// The states must outlive the plugin.
std::unique_ptr<Select> make_select_linear(const Settings& settings, const NodeStates& states);
std::unique_ptr<Select> make_select_cons(const Settings& settings, const NodeStates& states);

} // namespace noctule::slurm
