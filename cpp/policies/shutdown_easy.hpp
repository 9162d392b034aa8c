// EASY backfilling on hosts that are switched off and on: what proportional and inertial shutdown
// share (Poquet's thesis, Grenoble 2017, section 7.4.4). They differ in what they do when a period
// ends.
//
// Hosts are off for one of two reasons. Those that were idle for too long are switched off, but any
// job may use them, and wakes them. Those of the off reservation are out of reach of all jobs but
// the first one, and of this one unless all other hosts are too few for it. A busy host may be
// marked: it is switched off, and reserved, as soon as it is free.
#pragma once

#include "policies/idle_hosts.hpp"
#include "policies/policies.hpp"
#include "policies/queue.hpp"

#include <map>

namespace noctule {

class ShutdownEasy : public Policy {
  public:
    struct Parameters {
        double t_idle = infinity;        // seconds after which idle hosts are switched off
        double period = infinity;        // seconds between decisions about the off reservation
        bool run_on_period = false;      // whether these are followed by one about jobs
        bool from_first_job = false;     // periods begin with the first job, or else at zero
        bool tests_at_events = true;     // who is idle for too long, besides when a period ends
        bool tests_while_waking = false; // and also while other hosts are being switched on

        static Parameters of(const PolicySetup& setup);
    };

    // Throws InputError if hosts are to be chosen by another rule than the only one there is.
    static void require_first(Allocation allocation);

    ShutdownEasy(Order order, const Parameters& parameters)
        : queue_(std::move(order)), parameters_(parameters) {}

    void decide(const View& view, std::span<const Event> events, Decisions& decisions) final;
    bool wakes_hosts() const final { return true; }

  protected:
    // What a kind of shutdown does: at the first call, before and after jobs are started, and when
    // a period ends.
    virtual void begin(const View&, Decisions&) {}
    virtual void prepare(const View&, Decisions&) {}
    virtual void tidy_up(const View&, Decisions&) {}
    virtual void end_period(const View&, Decisions&) {}
    // Time has passed; and, once all is decided, hosts or jobs are in another state than before.
    virtual void observe_time(const View&) {}
    virtual void observe_change(const View&) {}

    const JobQueue& queue() const { return queue_; }
    double load() const { return n_endless_ > 0 ? infinity : load_; }
    double period() const { return parameters_.period; }

    // Hosts that jobs may have: free ones, with those that idleness has switched off.
    std::uint32_t n_usable(const View& view) const { return view.n_free() - n_reserved_; }
    std::uint32_t n_reserved() const { return n_reserved_; }
    bool is_reserved(HostId host) const { return reserved_[host] != 0; }
    bool is_off(const View& view, HostId host) const;
    // Not reserved, switched off for idleness.
    bool is_idle_off(const View& view, HostId host) const {
        return view.free_hosts().contains(host) && !is_reserved(host) && is_off(view, host);
    }

    // What the first job will get when it starts at its shadow: none if no job waits, all if nobody
    // knows when that will be.
    bool is_kept(const View& view, HostId host);

    // Hosts into the reservation: awake free ones are switched off, those that are off are stolen.
    void reserve_awake(const View& view, std::vector<HostId>& hosts, Decisions& decisions);
    void steal(HostId host);
    // Hosts that are asleep out of the reservation, and on.
    void wake(const View& view, const std::vector<HostId>& hosts, Decisions& decisions);

    // Marks a host of a running job.
    void mark(JobIndex job, HostId host);
    void cancel_marks();
    bool is_marked(JobIndex job, HostId host) const;
    std::uint32_t n_marked(JobIndex job) const;
    // What has happened since the last period.
    std::uint32_t take_n_executed_marks() { return std::exchange(n_executed_marks_, 0); }
    bool take_woke_for_first() { return std::exchange(woke_for_first_, false); }

    // Hosts that are being switched on and belong to no job, with the dates at which they are on.
    struct Waking {
        double time;
        HostId host;
    };
    const std::vector<Waking>& waking() const { return waking_; }

  private:
    static constexpr TimerTag period_timer = 1;

    bool follow(const View& view, std::span<const Event> events, Decisions& decisions);
    void execute_marks(const View& view, JobIndex job, Decisions& decisions);
    void drop_reserved(const View& view, const HostSet& hosts);
    void set_period_timer(const View& view, Decisions& decisions);
    void run_jobs(const View& view, Decisions& decisions);
    void start(const View& view, const QueuedJob& job, Decisions& decisions);
    void add_load(const View& view, JobIndex job, int sign);
    void make_room(const View& view, std::uint32_t n, Decisions& decisions);
    void backfill(const View& view, Decisions& decisions);
    double ready_date(const View& view, std::uint32_t n) const;
    HostSet next_hosts(const View& view, std::uint32_t n) const;
    Shadow shadow(const View& view, std::uint32_t n) const;
    void find_kept(const View& view);
    void test_idleness(const View& view, Decisions& decisions);
    void note_change();

    JobQueue queue_;
    Parameters parameters_;
    std::uint64_t n_periods_ = 0;
    double first_period_ = 0.0; // when it begins
    bool timer_is_set_ = false;
    bool has_begun_ = false;
    bool is_last_ = false;        // no more jobs will be submitted
    double load_ = 0.0;           // hosts x walltime of the waiting jobs, but for
    std::uint32_t n_endless_ = 0; // those without a walltime

    std::vector<std::uint8_t> reserved_; // by host
    std::uint32_t n_reserved_ = 0;
    std::map<JobIndex, std::vector<HostId>> marks_;
    std::vector<Waking> waking_;
    std::uint32_t n_executed_marks_ = 0;
    bool woke_for_first_ = false;

    struct Overdue {
        double since;
        HostId host;
    };
    IdleHosts idle_;
    std::vector<Overdue> overdue_; // idle for too long, but kept for the first job so far

    // Results that hold until something happens.
    bool is_observed_ = false;
    bool jobs_are_settled_ = false;
    bool idleness_is_settled_ = false;
    bool kept_is_known_ = false;
    bool all_kept_ = false;
    std::vector<std::uint8_t> kept_; // by host
};

} // namespace noctule
