// The time-keeper: advance() gives events, decisions change the state; it owns all mutable state.
//
// At equal times: ends and releases, then answers to decisions, then cancellations, then windows,
// then external events, then submissions, then timers, then decisions that were dated to this
// instant; the policy is then called once with the events. What its decisions cause at the same
// instant makes a new call.
#pragma once

#include "decision.hpp"
#include "engine_options.hpp"
#include "engine_state.hpp"
#include "event_queue.hpp"
#include "external_event.hpp"
#include "free_pool.hpp"
#include "hierarchy.hpp"
#include "job_table.hpp"
#include "latency.hpp"
#include "recorder.hpp"
#include "releases.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>

namespace noctule {

class Engine {
  public:
    Engine(std::uint32_t n_hosts, std::shared_ptr<const JobTable> table, const Options& options,
           MachineParts parts = {}, Submitters submitters = {});

    // Moves to the next instant at which there is something to tell; false at the end of the run.
    // Throws DeadlockError if jobs wait and nothing is left to happen.
    bool advance();
    std::span<const Event> events() const { return events_; }

    // Decisions of now; each throws DecisionError if the rules forbid it.
    void start(JobIndex job, Allocation allocation);
    void start(JobIndex job, const HostSet& hosts, const Layout& layout = {});
    void reject(JobIndex job);
    void kill(const std::vector<JobIndex>& jobs);
    // Ends a running job, which is submitted again once its hosts are released.
    void requeue(JobIndex job, const std::string& why);
    // Stops a running job, which keeps its hosts, and lets it go on (engine_suspension.cpp).
    void suspend(JobIndex job);
    void resume(JobIndex job);
    // Of a running job: its hosts will stay in the epilogue for so much longer; a failure that ends
    // it is the end of it; and it does not begin, though the hosts that it waits for are awake.
    void prolong_epilogue(JobIndex job, double seconds) { lingering_[job] = seconds; }
    void end_if_interrupted(JobIndex job) { options_.attempts.only_once.insert(job); }
    void keep_from_beginning(JobIndex job) { ++waking_.at(job); }
    // A job that the policy runs elsewhere, without hosts.
    void change_state(JobIndex job, JobState state);
    void set_metadata(JobIndex job, const std::string& text);
    void ask_energy();
    void finish_registration();
    void continue_registration();
    void call_at(double time, TimerTag tag);
    void cancel_call(TimerTag tag);
    void set_power_state(const HostSet& hosts, std::uint32_t state);
    void send_message(JobIndex job, const std::string& message);

    // The same, unless the policy is busy: then it takes effect when it no longer is.
    void apply(const Decision& decision);
    // A decision that takes effect later; one about a job that has ended by then is dropped.
    void postpone(double time, Decision decision);
    // The policy is not called before this date, and what it still decides takes effect then.
    void be_busy_until(double time);
    bool is_busy() const { return busy_until_ > now_; }

    // Adds a job, to be submitted at its submit_time, or at this date if that has passed. Its
    // delays and cancellation date come beside it; its id is in the table's names or numbers. The
    // programs are those known so far, with that of the job and its parts behind them.
    JobIndex register_job(Job job, const std::string& id, double date, double cancel_time,
                          double launch_delay, double epilogue_delay,
                          ProgramIndex program = no_program,
                          std::shared_ptr<const ProgramTable> programs = nullptr,
                          std::vector<std::uint32_t> rank_hosts = {});
    // Takes programs that jobs may be started with: those known so far, and more behind them.
    void use_programs(std::shared_ptr<const ProgramTable> programs);

    // What a policy may see.
    double now() const { return now_; }
    std::uint64_t instant() const { return instant_; } // counts the calls of the policy
    std::uint32_t n_hosts() const { return free_.n_hosts(); }
    std::uint32_t n_free() const { return free_.count(); }
    const FreeHosts& free_hosts() const { return free_.all(); }
    const FreeHosts& awake_free_hosts() const { return free_.awake(); }
    HostSet first_free_of(const HostSet& among, std::uint32_t n) const {
        return free_.first_of(among, n);
    }
    const Hierarchy& hierarchy() const { return hierarchy_; }
    const Releases& releases();
    const Job& job(JobIndex job) const { return table_->jobs[job]; }
    std::uint32_t submission_number(JobIndex job) const { return status_[job].submission; }
    JobState state(JobIndex job) const { return status_[job].state; }
    // Still to come while the job waits for its hosts to wake.
    double start_time(JobIndex job) const { return status_[job].start_time; }
    double expected_end(JobIndex job) const { return start_time(job) + table_->jobs[job].walltime; }
    HostSet hosts(JobIndex job) const;
    template <typename Visit> void for_each_run(JobIndex job, Visit&& visit) const {
        record_->archive.for_each(status_[job].hosts, visit);
    }
    HostSet completing_hosts() const;
    bool is_completing(JobIndex job) const { return completing_.contains(job); }
    bool is_suspended(JobIndex job) const;

    // Power, where the run has it: the state of a host, and what it is doing.
    bool has_power_states() const { return power_ != nullptr; }
    std::uint32_t power_state(HostId host) const { return power_->state(host); }
    HostPhase phase(HostId host) const {
        return power_             ? power_->phase(host)
               : has_failed(host) ? HostPhase::failed
                                  : HostPhase::awake;
    }
    HostSet hosts_in(HostPhase phase) const;
    // Whether a job may be started on hosts that sleep or switch.
    bool wakes_hosts() const { return options_.wake_for_jobs && power_; }
    // Of a host that is to sleep or to wake (engine_waking.cpp); throw DecisionError if it cannot.
    std::uint32_t sleep_state(HostId host) const;
    std::uint32_t computing_state(HostId host) const;
    double switch_on_seconds(HostId host) const;
    double switch_off_seconds(HostId host) const;
    double awake_date(HostId host) const { return power_ ? power_->awake_date(host) : now_; }
    std::uint32_t n_hosts_in(HostPhase phase) const { return power_ ? power_->count(phase) : 0; }
    const PowerRequest& power_request(std::uint32_t number) const {
        return power_->request(number);
    }
    const JobMessage& message(std::uint32_t number) const { return messages_[number]; }
    const ExternalEvent& external_event(std::uint32_t number) const { return external_[number]; }
    const std::vector<JobIndex>& killed_jobs(std::uint32_t group) const { return kills_[group]; }
    double answer(std::uint32_t number) const { return answers_[number]; }
    HostSet unavailable_hosts() const;

    // Hosts that come and go: windows, of which policies may see the announced ones, the
    // reservation of a job, and the hosts of one that is under way which its jobs may have now.
    const std::vector<TimeWindow>& windows() const { return windows_; }
    WindowIndex reservation(JobIndex job) const {
        return job < reservations_.size() ? reservations_[job] : no_window;
    }
    FreeHosts free_in(WindowIndex reservation) const;
    Absences absences() const;
    // How long after its start a job may have to wait for hosts to wake.
    double longest_waking() const;
    HostSet hosts_that_wake() const; // or have to
    // Hosts that are away, or will be once their jobs have ended, for nobody knows how long.
    HostSet lost_hosts() const;
    // Which workload job a further attempt stands for, and its number; a first attempt is number 1.
    struct Attempt {
        JobIndex origin;
        std::uint32_t number;
    };
    Attempt attempt(JobIndex job) const;
    double joules() const; // of all hosts but a master, so far
    double joules(HostId host);
    // How far a running job has come, or one that was killed had.
    Progress progress(JobIndex job) const;

    // The jobs in a state, waiting or running, oldest first: each call gives the next one from a
    // cursor that starts at zero; no_job ends them.
    JobIndex next_waiting(std::size_t& cursor) const { return next(waiting_, cursor); }
    JobIndex next_running(std::size_t& cursor) const { return next(running_, cursor); }
    std::size_t n_waiting() const { return waiting_.size; }
    std::size_t n_running() const { return running_.size; }

    // What only the outside may see: a policy would be clairvoyant.
    const JobTable& table() const { return *table_; }
    double duration(JobIndex job) const; // on the hosts it holds, or on usual ones before its start
    std::size_t n_ended() const { return record_->size(); }

    // The rows so far, followed by the running and the waiting jobs. A final record is the engine's
    // own, where nothing is left to add to it: the run must not go on.
    std::shared_ptr<const Record> record(bool final) const;
    // What each host has spent so far; empty if nobody counts.
    std::vector<Joules> spent() const;
    // What was odd about the network, in sentences.
    std::vector<std::string> warnings() const;

  private:
    using Status = engine_state::Status;
    using Line = engine_state::Line;
    using Call = engine_state::Call;
    using Changed = engine_state::Changed;
    using Suspension = engine_state::Suspension;

    bool is_over() const;
    bool go_to(double time);
    bool step(double limit);
    void add_news(EventKind kind, std::uint32_t subject);
    void tell(EventKind kind, std::uint32_t subject);
    void perform(const Decision& decision);
    void refuse_late_registration(JobIndex job) const;
    void enter(Line& line, JobIndex job);
    JobIndex next(const Line& line, std::size_t& cursor) const;

    double next_time();
    void collect();
    void handle(const FutureEvent& event);
    void submit(JobIndex job);
    bool join_queue(JobIndex job);
    bool is_told(JobIndex job) const {
        return job < end_of_arrivals_ || options_.acknowledge_registered || attempts_.contains(job);
    }
    void submit_arrivals();
    void begin(JobIndex job);
    void begin_work(JobIndex job);
    void set_timer(JobIndex job);
    double timer_length(const Job& what, double lasts) const {
        return options_.enforce_walltime ? std::min(lasts, what.walltime) : lasts;
    }
    double planned_end(JobIndex job) const { // unless it is suspended
        return launch_date(job) + timer_length(table_->jobs[job], duration(job));
    }
    double launch_delay_of(JobIndex job) const;
    double epilogue_of(JobIndex job) const;
    void end_run(JobIndex job);
    void finish(JobIndex job);
    void free_allocation(JobIndex job);
    void hold(Interval hosts);

    // From outside (engine_external.cpp).
    void set_up_external(const std::vector<std::vector<ExternalEvent>>& lists);
    void occur(std::uint32_t number);
    void make_unavailable(const HostSet& hosts);
    void make_available(const HostSet& hosts);
    void refuse_event(const HostSet& hosts, const std::string& why) const;
    bool is_unavailable(HostId host) const { return has_reason(host, 0xff); }
    bool has_reason(HostId host, std::uint8_t reasons) const {
        return !unavailable_.empty() && (unavailable_[host] & reasons) != 0;
    }
    bool has_failed(HostId host) const { return has_reason(host, absence::failed); }
    void count_unavailable(HostCounts& counts) const;
    void leave(HostId host, std::uint8_t reason);
    void come_back(HostId host, std::uint8_t reason);
    void set_reasons(HostId host, std::uint8_t reasons);
    void note_held(JobIndex job, int change);
    void track_absences();

    // Hosts that fail (engine_failures.cpp).
    void fail_hosts(const HostSet& hosts);
    void restore_hosts(const HostSet& hosts);
    bool toggle_failed(HostId host);
    void end_jobs_on(const HostSet& hosts, JobState outcome, const std::string& why);

    // Windows (engine_windows.cpp).
    void set_up_windows();
    void pass_window(std::uint32_t step);
    void begin_window(WindowIndex window);
    void end_window(WindowIndex window);
    bool is_idle_reserved(HostId host) const;
    bool is_reserved_for(JobIndex job, HostId host) const;
    bool outlasts_reservation(JobIndex job) const;
    void cancel_late(WindowIndex reservation);
    HostSet choose_in_reservation(JobIndex job, Allocation allocation) const;
    void refuse_outside(JobIndex job, const HostSet& hosts) const;

    // Jobs that are tried again (engine_attempts.cpp).
    void interrupt(JobIndex job, JobState outcome, const std::string& why);
    void submit_again(JobIndex job, double amount_done);
    bool is_tried_again(JobIndex job) const;
    double lengthened(JobIndex job, double work) const;
    double amount_to_run(JobIndex job) const;
    double run_so_far(JobIndex job) const;
    double work_saved(JobIndex job) const;
    double useful_time(JobIndex job) const;

    // Jobs that are sent away or stopped (engine_suspension.cpp).
    void require_running(JobIndex job, const char* decision) const;
    void note_attempts();
    bool was_suspended_since(JobIndex job, double date) const;
    double suspended_so_far(JobIndex job) const;

    // On a machine (engine_machine.cpp).
    void set_up_machine();
    void set_up_power(PoweredHosts& hosts, bool counts_energy);
    void record_power_states();
    bool is_switching() const;
    double end_on_machine(JobIndex job); // gives its joules
    double settle_joules(JobIndex job);
    void begin_on_machine(JobIndex job, double launch);
    void launch(JobIndex job);
    void run_machine();
    void proceed(std::span<const Ended> activities);
    void request_power_state(const HostSet& hosts, std::uint32_t state, std::int32_t meanwhile);
    void end_switch(HostId host);
    void toggle_hosts();
    bool is_held(HostId host) const;
    void give_back(Interval hosts);
    std::uint32_t n_held(JobIndex job) const;
    double joules_of(JobIndex job) const;
    void note_energy(char why);
    void note_power();
    std::string why_unusable(HostId host, JobIndex job) const;
    std::string misfit(JobIndex job, const HostSet& hosts, const Layout& layout) const;
    bool is_moldable(const Program& program) const;

    // In a book of power (engine_book.cpp).
    double launch_date(JobIndex job) const;
    bool is_loading(JobIndex job) const;
    double pace_of(JobIndex job) const;
    Draw draw_of(JobIndex job) const;
    void set_pace(JobIndex job, double pace);
    void load(JobIndex job);
    void unload(JobIndex job, const Draw& draw);
    void begin_in_book(JobIndex job, double launch);
    double joules_since(JobIndex job, double since, const Draw& draw) const;
    double end_in_book(JobIndex job); // gives its joules
    std::vector<JobIndex> pause_jobs(const HostSet& hosts, std::uint32_t state);
    void resume_jobs(const std::vector<JobIndex>& paused);
    bool makes_unusual(const HostSet& hosts, std::uint32_t state) const;
    double flops_left(JobIndex job, const Changed& changed) const;
    double done_of(JobIndex job, const Changed& changed) const;
    void settle_changed(JobIndex job);
    void set_end(JobIndex job);
    bool is_void_end(JobIndex job, double date) const {
        return (!changed_.empty() && was_put_off(job, date)) ||
               (!suspensions_.empty() && was_suspended_since(job, date));
    }
    bool was_put_off(JobIndex job, double date) const;
    void end_switches(PowerBook::Group group);
    std::vector<Joules> joules_of_loads() const;
    void track_loads();
    std::vector<Joules> spent_in_book() const;

    // For jobs whose hosts do not wake yet (engine_waking.cpp).
    static constexpr std::int32_t being_switched_on = -1;
    static constexpr std::int32_t being_switched_off = -2;
    bool counts_as_free(HostPhase phase) const;
    bool wakes_hosts_of(JobIndex job);
    void switch_on(const std::vector<HostId>& hosts);
    void follow_switch(HostId host);
    void settle_switches();
    void stop_waking(JobIndex job);
    void end_before_work(JobIndex job);
    void fail_waking_jobs(HostId failed);
    const PowerControl& power() const;

    // With Batsim's own latency (engine_latency.cpp).
    void set_up_latency(Submitters&& submitters);
    bool advance_with_latency();
    bool defers_decisions() const;
    void instruct(double date, Decision decision);
    void give_instructions();
    void wake(Token token);
    void run_with_letters();
    void deliver();
    void open(const Letter& letter);
    void resume(const Letter& letter);
    void resume_sender();
    std::vector<Letter> take_messages();
    void carry_out(const Instruction& instruction);
    void begin_later(JobIndex job);
    void sleep_until_arrival(std::uint32_t submitter);
    void take_up_arrival(Submitter& submitter);
    void announce_arrivals(std::uint32_t submitter);
    void take_in(Submitter& submitter, std::size_t end);
    void say_goodbye(bool of_events);
    void end_killed(std::uint32_t group);
    void end_unheard(JobIndex job);

    void release(JobIndex job);
    bool holds_hosts(JobIndex job) const;
    double speed_of(JobIndex job) const;
    void end_without_run(JobIndex job, JobState state);
    void set_up_dependencies();
    void settle_dependents(JobIndex job, double end);
    // Where the dates of jobs follow from what happens (engine_arrivals.cpp).
    JobIndex take_arrival();
    void post_arrivals();
    void post_arrival(JobIndex job);
    void tell_submissions_ended();
    void forget_call(TimerTag tag);
    void fire(std::uint32_t call);
    void apply_postponed();

    void note_progress() { quiet_calls_ = 0; }
    void note_host_states();
    void note_host_phases();
    void discard_dead_events();
    void count_call() {
        ++instant_;
        ++quiet_calls_;
        if (++calls_at_now_ > max_quiet_calls || quiet_calls_ > max_quiet_calls) {
            refuse_livelock();
        }
    }
    void refuse_livelock() const;
    void enter_release(JobIndex job, double date);
    void withdraw_release(JobIndex job, double date);
    JobRow live_row(JobIndex job) const;
    void add_live_rows(Record& record) const;

    std::string describe_job(JobIndex job) const { return table_->id(job); }
    void require_waiting(JobIndex job, const char* decision) const {
        if (status_[job].state != JobState::waiting) {
            refuse_unless_waiting(job, decision);
        }
    }
    void refuse_unless_waiting(JobIndex job, const char* decision) const;
    [[noreturn]] void refuse(const std::string& decision, const std::string& why) const;
    [[noreturn]] void report_deadlock(const char* what) const;
    JobTable& own_table();

    std::shared_ptr<const JobTable> table_;
    std::shared_ptr<JobTable> own_table_; // made when a run adds or moves jobs
    Options options_;
    double now_ = 0.0;
    bool started_ = false;
    double busy_until_ = 0.0;   // the policy
    JobIndex next_arrival_ = 0; // with latency, how many there were
    JobIndex end_of_arrivals_ = 0;
    std::size_t n_unfinished_ = 0;
    std::uint32_t submissions_ = 0;
    std::size_t n_live_calls_ = 0;
    std::size_t n_queued_calls_ = 0;
    // After more calls a policy that waits for itself is told so.
    static constexpr std::uint64_t max_quiet_calls = 1'000'000;
    std::uint64_t quiet_calls_ = 0; // without any progress of a job
    std::uint64_t calls_at_now_ = 0;
    std::uint64_t instant_ = 0;

    EventQueue queue_;
    PlainArray<Event> events_;
    std::vector<Status> status_;
    Line waiting_{JobState::waiting};
    Line running_{JobState::running};
    FreePool free_;
    Hierarchy hierarchy_;
    Releases releases_; // of jobs that have been looked at, or are in their epilogue
    std::map<JobIndex, double> completing_; // ended at this date, hosts still in their epilogue
    MachineParts parts_;
    std::unique_ptr<Execution> execution_;
    std::unique_ptr<PoweredHosts> hosts_of_machine_;
    std::unique_ptr<PowerControl> power_;
    PowerBook* book_ = nullptr;
    std::unique_ptr<Latency> latency_;
    std::map<JobIndex, Changed> changed_;
    std::map<JobIndex, Suspension> suspensions_; // of running jobs that were ever suspended
    std::set<JobIndex> requeued_;
    std::map<JobIndex, double> later_launches_; // seconds that starts were decided with
    std::map<JobIndex, double> lingering_;      // seconds by which epilogues are prolonged
    std::map<JobIndex, std::uint32_t> waking_;  // how many hosts of a job are not awake yet
    std::vector<JobIndex> waiter_;              // by host: the job that it wakes for
    std::vector<HostId> to_wake_;               // scratch of settle_switches
    std::vector<JobIndex> woken_;
    std::vector<std::uint16_t> n_jobs_on_; // by host, where hosts are shared
    std::map<JobIndex, Layout> layouts_;   // of jobs that run, where a policy gave one
    std::map<JobIndex, double> joules_at_start_;
    std::map<JobIndex, Progress> last_progress_; // of jobs that were killed
    std::vector<JobMessage> messages_;
    std::vector<ExternalEvent> external_;
    std::size_t n_external_left_ = 0;
    std::vector<std::uint8_t> unavailable_; // why, by host and storage; empty if none ever is
    FreeHosts present_;                     // hosts without a reason, and how many are
    std::uint32_t n_away_ = 0;              // unavailable or in maintenance
    std::uint32_t n_lost_ = 0;              // unavailable or failed by an event
    std::vector<std::uint16_t> n_holders_;  // by host and storage, where the above is not empty
    std::vector<TimeWindow> windows_;
    std::vector<WindowIndex> reservations_;   // by job; empty if none has one
    std::map<JobIndex, Attempt> attempts_;    // all but the first ones
    JobIndex interrupted_ = no_job;           // while such a job ends
    std::vector<std::uint8_t> storages_used_; // where they are not shared
    std::set<JobIndex> elsewhere_;            // jobs that run without hosts
    std::set<JobIndex> asked_to_end_;         // jobs that were to be killed
    std::vector<std::vector<JobIndex>> kills_;
    std::vector<double> answers_;
    bool is_registration_open_ = false;
    bool is_registration_finished_ = false;
    JobIndex n_submitted_ = 0; // of the table, where that is told
    std::shared_ptr<Record> record_ = std::make_shared<Record>();

    std::vector<Call> calls_;
    std::vector<std::uint32_t> spare_calls_;
    std::vector<std::uint32_t> call_of_tag_; // a call and 1, or 0

    std::vector<Decision> postponed_;
    std::size_t n_postponed_ = 0; // still to come
    std::vector<Event> news_;
    std::size_t n_news_ = 0; // still to be told
    std::vector<std::uint32_t> due_;

    // Per job with dependencies: how many are left, and the earliest date so far.
    struct Waited {
        std::uint32_t left = 0;
        double ready_time = 0.0;
    };
    std::vector<Waited> waited_;
    std::vector<std::uint32_t> first_dependent_; // into dependents_, by job; empty if none
    std::vector<Dependency> dependents_;         // sorted by `on`

    std::unique_ptr<Arrivals> arrivals_; // null: jobs arrive at the dates of the workload
    bool has_told_submissions_ended_ = false;
};

} // namespace noctule
