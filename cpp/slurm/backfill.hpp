// The backfill scheduler: plans every job it looks at, in order, around running jobs and the plans
// of those before it, and starts those whose plan is to start now.
//
// Each pass plans from scratch, unless it would plan what the last one did: a pass notes the first
// date from which on any of its comparisons could come out otherwise. Until then, and as long as
// nothing changes but that jobs come to the end of the queue, the next one goes on where it ended.
#pragma once

#include "slurm/evictions.hpp"
#include "slurm/het_jobs.hpp"
#include "slurm/known_counts.hpp"
#include "slurm/license_plan.hpp"
#include "slurm/node_space.hpp"

#include <map>
#include <optional>

namespace noctule::slurm {

class Backfill {
  public:
    explicit Backfill(Controller& controller)
        : controller_(controller), evictions_(controller), het_jobs_(controller.requests()) {}

    // A pass may let others work in between, if the cost model says that it takes long: then it
    // gives the seconds after which it wants to go on; nothing once it is over.
    std::optional<double> begin(const Moment& moment, double time);
    std::optional<double> resume(const Moment& moment, double time);
    bool is_under_way() const { return under_way_; }
    // Of the last pass, since it last let others work.
    double seconds_worked() const { return worked_us_ * 1e-6; }

  private:
    // What is tried: a task, and where.
    struct Attempt {
        const QueueRecord& record;
        JobIndex job; // of an array, any task
        const Request& request;
        const Partition& partition;
        Minutes limit;
        bool no_reserve;
        std::uint32_t least;
        std::uint32_t wanted;

        Trial on(const NodeSet& nodes, Seconds latest = no_date) const {
            return {job, request, partition, nodes, least, wanted, latest};
        }
    };
    // What became of a job: it started, the plan is full, or the pass goes on.
    enum class Outcome : std::uint8_t { started, planned, unplanned, table_full };
    enum class Start : std::uint8_t { done, busy, over_limit };

    std::optional<double> walk(const Moment& moment, double time);
    void finish(const Moment& moment, double time);
    void plan_afresh();
    bool repeats_itself(const Moment& moment) const;
    // The parameter by which the pass ends here, if one does.
    std::string_view why_over(double time) const;
    bool counts_exceeded(const QueueRecord& record);
    bool plans_nothing(const Moment& moment, const QueueRecord& record) const;
    bool look_at(const Moment& moment, const QueueRecord& record);
    bool may_be_tried(const Moment& moment, const QueueRecord& record, JobIndex task);
    Outcome try_job(const Moment& moment, const Attempt& attempt);
    std::optional<Seconds> find_nodes(const Attempt& attempt, Seconds start, Seconds duration,
                                      Seconds& later);
    bool follows_predictions() const;
    bool nodes_only_get_fewer() const;
    Seconds first_promising(const Attempt& attempt, Seconds asked, Seconds earliest,
                            Seconds duration);
    bool are_too_few(const Attempt& attempt, Seconds start, Seconds latest);
    Start start_now(const Moment& moment, const Attempt& attempt);
    bool may_start_more() const;
    void start_groups(const Moment& moment);
    bool start_group(const Moment& moment, std::uint32_t group);
    std::optional<Choice> choose_apart(const Moment& moment, const QueueRecord& record,
                                       Minutes limit, const NodeSet& used);
    Seconds lacks_licenses_until(const Attempt& attempt, Seconds start, Seconds end);
    void plan_licenses();
    void extend_limit(JobIndex job, Seconds now);
    void note_nodes(const Attempt& attempt, Seconds start);
    bool table_is_full() const;
    Outcome reserve(const Attempt& attempt, Seconds start, const NodeSet& nodes);
    Seconds round_down(Seconds date) const {
        return date / controller_.parameters().bf_resolution *
               controller_.parameters().bf_resolution;
    }
    void reserve_for_running();
    // A comparison of this pass comes out otherwise from a date on.
    void hold_until(Seconds date) { holds_until_ = std::min(holds_until_, date); }
    void hold_until_later(Seconds date) { // unless it has passed
        if (date > now_) {
            hold_until(date);
        }
    }
    // The plan's end, which moves on with each pass, was compared with a date.
    void hold_until_reached(Seconds date);
    void note_conditions(const QueueRecord& record);
    void note_test(JobIndex job, const NodeSet& nodes);
    std::uint32_t cpus_of(const NodeSet& nodes) const;
    bool is_over_limit(const Moment& moment, const Attempt& attempt, const NodeSet& nodes);

    Controller& controller_;
    Evictions evictions_;
    HetJobs het_jobs_;
    NodeSpace space_;
    LicensePlan licenses_; // with bf_licenses
    NodeSet available_;    // to the job that is tried
    NodeSet partition_nodes_;
    bool counts_hold_ = false;
    KnownCounts known_; // of this pass

    // Of the last pass: whether the next one may go on where it ended.
    bool reached_end_ = false; // of the queue
    Seconds holds_until_ = 0;
    std::uint64_t changes_seen_ = 0; // by its beginning

    // Of the pass under way.
    bool under_way_ = false;
    std::size_t next_ = 0;            // record
    std::optional<QueueRecord> last_; // looked at before others were let work
    double begun_ = 0.0;
    double worked_us_ = 0.0; // since the last yield
    Seconds pass_now_ = 0;
    Seconds now_ = 0;
    Seconds update_seen_ = 0;
    std::uint32_t n_queued_ = 0;
    std::uint32_t n_looked_at_ = 0;
    std::uint32_t n_tested_ = 0;
    std::uint32_t n_started_ = 0;
    std::map<std::uint64_t, std::uint32_t> counts_;     // by what is counted, and its number
    std::map<std::uint32_t, std::uint32_t> n_reserved_; // by partition
    NodeSet planned_nodes_;
    NodeSet told_nodes_;            // of the last pass: idle ones among them
    bool moves_plans_ = false;      // a job was found to start later than predicted
    std::vector<JobIndex> planned_; // or found to start too late for that, for bf_one_resv_per_job
};

} // namespace noctule::slurm
