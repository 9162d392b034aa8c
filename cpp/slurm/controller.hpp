// The state that both schedulers work on: jobs, nodes, licences, and how a job starts and ends.
#pragma once

#include "policy.hpp"
#include "slurm/gang.hpp"
#include "slurm/limits.hpp"
#include "slurm/power_saver.hpp"
#include "slurm/preemption.hpp"
#include "slurm/queue.hpp"
#include "slurm/reasons.hpp"
#include "slurm/statistics.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace noctule::slurm {

enum class StartedBy : std::uint8_t { nobody, main, backfill };

struct JobStatus {
    enum class Phase : std::uint8_t { absent, pending, running, ended };
    Phase phase = Phase::absent;
    StartedBy by = StartedBy::nobody;
    bool independent = false; // its dependencies are met
    bool killed = false;      // by the controller
    std::uint32_t partition = 0;
    Seconds submitted = 0;
    Seconds eligible = 0;
    Seconds start = 0;
    Seconds planned = 0; // start that backfilling has last found; 0: none
    Minutes limit = 0;   // of a running job: backfilling may shorten it

    Seconds found_nodes = 0;       // when there were first any, of one switch or not; 0: never
    Seconds preempting = 0;        // when it last made others go; 0: never
    Seconds warned = 0;            // when it was told to make way; 0: never
    Seconds last_second = no_date; // of its grace time
    Seconds suspended_since = 0;   // 0: it is not
    Seconds suspended_seconds = 0; // before that
};

// The parts that a configuration chooses. They see the requests that the controller keeps.
struct Plugins {
    std::function<std::unique_ptr<Select>(const Settings&, const NodeStates&)> select;
    std::function<std::unique_ptr<Priority>(const Settings&, const Requests&)> priority;
    std::function<std::unique_ptr<Limits>(const Settings&, const Requests&)> limits;
};

// One call of the policy.
struct Moment {
    const View& view;
    Decisions& decisions;
    Seconds now;
};

// Why jobs were refused, each with a sentence about them in the end.
enum class Refusal : std::uint8_t {
    impossible,
    partition_limits,
    held,
    dependency,
    accounting,
    stuck
};
inline constexpr std::size_t n_refusals = 6;

class Controller {
  public:
    Controller(std::shared_ptr<const Settings> settings, Requests requests, const Plugins& plugins);

    // What happened.
    void submit(const Moment& moment, JobIndex job);
    void cancel(JobIndex job, Seconds now);
    void end(const Moment& moment, JobIndex job);
    void free_nodes(JobIndex job, Seconds now); // its epilogue has ended
    void set_available(const HostSet& hosts, bool available, Seconds now);
    void set_windows(const View& view);

    // What schedulers ask.
    const Preemption& preemption() const { return preemption_; }
    const Settings& settings() const { return *settings_; }
    const Parameters& parameters() const { return settings_->parameters; }
    const Request& request(JobIndex job) const { return requests_[job]; }
    const Requests& requests() const { return requests_; }
    const JobStatus& status(JobIndex job) const { return status_[job]; }
    Queue& queue() { return queue_; }
    const Queue& queue() const { return queue_; }
    Select& select() { return *select_; }
    Priority& priority() { return *priority_; }
    Limits& limits() { return *limits_; }
    ReasonLog& reasons() { return reasons_; }
    const ReasonLog& reasons() const { return reasons_; }
    const NodeStates& nodes() const { return nodes_; }
    const Partition& partition(std::uint32_t index) const { return settings_->partitions[index]; }

    // Whether a record would be in the queue that a pass builds now.
    bool is_queued(const Moment& moment, const QueueRecord& record);
    // Notes why a record is not in the queue, or what else kept a pass from it.
    void note_unqueued(const Moment& moment, const QueueRecord& record);
    void note_rest(const Moment& moment, std::size_t first_record, Reason reason,
                   std::string_view detail = "");
    void note_limit(JobIndex job);
    void note_licenses(JobIndex job);
    // Cancels a job that cannot end before its deadline; whether it did.
    bool cancel_late(const Moment& moment, JobIndex job);
    bool has_licenses(const Request& request) const;
    // Bounds of its nodes in a partition: at least, and wanted.
    std::pair<std::uint32_t, std::uint32_t> node_bounds(JobIndex job,
                                                        std::uint32_t partition) const;
    Minutes time_limit(JobIndex job, std::uint32_t partition) const;
    // Whether it could run in a partition if all nodes were idle.
    bool can_run(JobIndex job, std::uint32_t partition);
    bool could_run(JobIndex job);
    // Leaves of the nodes those that the job may use from `start` on for so long, and gives the end
    // of the first window that took some away, or 0.
    Seconds keep_usable(JobIndex job, Seconds start, Seconds duration, NodeSet& nodes) const;
    // When the reservation of a job begins; nothing if it has none, or none that is known.
    std::optional<Seconds> reservation_begin(JobIndex job) const;

    const NodeSet& nodes_held(JobIndex job) const { return held_.at(job).nodes; }
    // A record as the queue has it, but for its place.
    QueueRecord record_in(JobIndex job, std::uint32_t partition) const;
    template <typename Visit> void for_each_running(Visit&& visit) const {
        for (const auto& [job, held] : held_) {
            if (status_[job].phase == JobStatus::Phase::running) {
                visit(job);
            }
        }
    }
    // Calls visit(JobIndex, const NodeSet&) for running jobs that plans go around.
    template <typename Visit> void for_each_whole(Visit&& visit) const {
        for (const auto& [job, held] : held_) {
            if (held.whole && status_[job].phase == JobStatus::Phase::running) {
                visit(job, held.nodes);
            }
        }
    }

    // Preemption (controller_preemption.cpp). Calls visit(const RunningJob&) for running jobs, in
    // the order of their submission.
    template <typename Visit> void for_each_preemptable(Visit&& visit) const {
        for (const auto& [job, held] : held_) {
            if (status_[job].phase == JobStatus::Phase::running && !status_[job].killed) {
                visit(running_job(job, held.nodes));
            }
        }
    }
    RunningJob running_job(JobIndex job, const NodeSet& nodes) const;
    // Ends a running job for another; what is left of its grace time is its own.
    void evict(const Moment& moment, JobIndex job);
    bool is_evicted(JobIndex job) const { return status_[job].killed; }
    void note_preempting(JobIndex job, Seconds now) { status_[job].preempting = now; }
    // Lets other jobs that share cores or nodes have their turn.
    void change_turns(const Moment& moment) { take_turns(moment, gang_->slice()); }
    bool has_turns() const { return gang_ && gang_->has_waiting(); }
    // Ends a job that has run for too long.
    void end_late(const Moment& moment, JobIndex job);
    // Leaves of the nodes those that no other user has for himself, or that the job would have for
    // its user.
    void keep_own(JobIndex job, std::uint32_t partition, NodeSet& nodes) const;

    void start(const Moment& moment, const QueueRecord& record, const Choice& choice, Minutes limit,
               StartedBy by);
    // The nodes to start on now: those that are on, where they are enough.
    std::optional<Choice> run_now(const Trial& trial);
    // Whether a job rather waits for nodes of one switch.
    bool waits_for_switch(JobIndex job, const NodeSet& nodes, Seconds now);
    // Power saving: whether the run has it, and what is to be switched now; whether nodes that were
    // down can be used again.
    void begin_power_saving(const Moment& moment);
    bool save_power(const Moment& moment);
    std::optional<Seconds> next_power_change() const {
        return saves_power_ ? power_.next_date() : std::nullopt;
    }
    const PowerSaver& power() const { return power_; }
    Seconds last_seen() const { return last_seen_; }
    // When jobs that had to wait for a boot were given their nodes.
    const std::map<JobIndex, double>& boots() const { return boots_; }
    // Starts jobs whose date and nodes are given, those that are due.
    void start_given(const Moment& moment);
    std::optional<Seconds> next_given_start() const {
        return given_starts_.empty() ? std::nullopt : std::optional(given_starts_.begin()->first);
    }
    void set_limit(JobIndex job, Minutes limit);
    void plan(JobIndex job, Seconds start) { status_[job].planned = start; }

    // The last second in which a job, a node or a window changed.
    Seconds last_update() const { return last_update_; }
    void touch(Seconds now) {
        last_update_ = std::max(last_update_, now);
        ++n_changes_;
    }
    // The same where nothing has changed but what backfilling has planned.
    void touch_plans(Seconds now) { last_update_ = std::max(last_update_, now); }
    // A queue is built. Of jobs that their partitions never take, reasons are set at the first time
    // and kept at the second: both are changes.
    void note_queue(Seconds now) {
        if (n_reason_changes_ > 0) {
            --n_reason_changes_;
            touch_plans(now);
        }
    }
    // Changes that the plan of a backfill pass does not outlive: all but jobs at the queue's end.
    std::uint64_t n_changes() const { return n_changes_ + queue_.n_changes(); }
    bool has_windows() const { return !windows_.empty(); }
    bool has_owners() const { return has_owners_; }
    std::size_t n_running() const { return n_running_; }
    // Whether CompleteWait holds schedulers back.
    bool waits_for_completion(Seconds now) const;
    // The nodes of the partitions whose jobs do that.
    NodeSet nodes_in_completion(Seconds now) const;
    // Refuses all pending jobs: nothing will ever start them.
    void give_up(const Moment& moment);
    // Whether no pending job waits for a date of its own.
    bool all_eligible(Seconds now) const;
    std::vector<std::string> warnings() const;
    Statistics statistics = {};
    const std::vector<JobStatus>& statuses() const { return status_; }
    // Running jobs by the second from which on they may be killed.
    const std::set<std::pair<Seconds, JobIndex>>& due() const { return due_; }
    Seconds expected_end(JobIndex job) const;

  private:
    struct Window {
        Seconds from;
        Seconds to;
        NodeSet nodes;
        bool is_reservation;
    };

    void grow(const View& view, JobIndex job);
    std::optional<Refusal> find_refusal(JobIndex job, Seconds now);
    std::uint32_t asked_nodes(const Request& request) const;
    bool violates_limits(const Request& request, std::uint32_t partition) const;
    void refuse(const Moment& moment, JobIndex job, Refusal why);
    std::string named_limits() const;
    bool is_independent(const Moment& moment, JobIndex job);
    bool is_throttled(const Request& request) const;
    enum class Verdict : std::uint8_t { met, open, never };
    Verdict judge(const Dependency& dependency, JobIndex job, const Moment& moment) const;
    void count_licenses(const Request& request, int change);
    NodeSet nodes_of(const HostSet& hosts) const;
    void count_completing(JobIndex job, int change);
    bool completes_lately(Seconds ended, Seconds now) const {
        return parameters().complete_wait > 0 && now - ended <= parameters().complete_wait;
    }
    Seconds kill_date(JobIndex job) const;
    // The second in which a job that was just started begins: when its nodes are on.
    Seconds wake_nodes(const Moment& moment, JobIndex job, const NodeSet& nodes);
    void let_idle(const NodeSet& nodes, Seconds now);
    void note_away(NodeIndex node, bool is_back, Seconds now);
    bool take_back_nodes(const Moment& moment);
    void give_up_nodes(const Moment& moment);
    // Changes when a running job is expected to end.
    template <typename Change> void change_end(JobIndex job, Change&& change) {
        due_.erase({kill_date(job), job});
        change(status_[job]);
        select_->set_expected_end(job, expected_end(job));
        due_.emplace(kill_date(job), job);
    }
    void take_turns(const Moment& moment, const Gang::Changes& changes);
    void terminate(const Moment& moment, JobIndex job);
    void send_away(const Moment& moment, JobIndex job, bool comes_back, const char* why);
    JobIndex last_attempt(JobIndex job) const;

    std::shared_ptr<const Settings> settings_;
    Requests requests_;
    ReasonLog reasons_;
    PowerSaver power_;
    bool saves_power_ = false;
    Seconds last_seen_ = 0; // by power saving
    std::map<JobIndex, double> boots_;
    NodeStates nodes_;
    std::unique_ptr<Select> select_;
    std::unique_ptr<Priority> priority_;
    std::unique_ptr<Limits> limits_;
    Queue queue_;
    struct PartitionSize {
        std::uint32_t nodes;
        std::uint64_t cpus; // that its jobs may have
    };
    std::vector<PartitionSize> sizes_; // by partition
    std::vector<JobStatus> status_;
    std::vector<std::uint32_t> licenses_used_;
    std::vector<NodeIndex> node_of_host_;
    std::vector<std::uint16_t> n_away_;       // hosts of each node
    std::vector<std::uint16_t> n_completing_; // jobs on each node
    std::set<std::pair<Seconds, JobIndex>> due_;
    std::set<std::pair<Seconds, JobIndex>> given_starts_;
    struct Held {
        NodeSet nodes;
        bool whole;
    };
    std::map<JobIndex, Held> held_;          // by running and completing jobs
    std::map<JobIndex, Seconds> completing_; // jobs, and when they ended
    std::unordered_map<std::uint32_t, std::uint32_t> running_tasks_;      // by array
    std::unordered_map<std::uint64_t, std::vector<JobIndex>> singletons_; // by user and name
    std::vector<Window> windows_;
    std::vector<WindowIndex> known_windows_;
    Preemption preemption_;
    std::unique_ptr<Gang> gang_;                           // null: jobs take no turns
    bool has_owners_ = false;                              // nodes may belong to a user
    std::unordered_map<JobIndex, JobIndex> last_attempts_; // by first attempt, where there are more
    std::set<JobIndex> requeued_;                          // first attempts of jobs sent away
    Seconds last_update_ = 0;
    std::uint64_t n_changes_ = 0;
    std::size_t n_running_ = 0;
    std::uint64_t n_refused_[n_refusals] = {};
    std::map<std::string, std::uint64_t> n_refused_by_; // limits of accounting
    int n_reason_changes_ = 0;                          // still to come
    std::uint64_t n_late_ = 0;
    std::uint64_t n_beyond_resume_rate_ = 0; // jobs that boot more nodes than that
    std::uint64_t n_not_given_ = 0;          // starts whose nodes were not free
};

} // namespace noctule::slurm
