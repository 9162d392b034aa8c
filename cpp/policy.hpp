// The decision boundary as native policies see it: a read-only view, events in, decisions out.
//
// Decisions of a native policy take effect as it makes them, so its view is always current; that
// is the same as applying them afterwards in the order given.
#pragma once

#include "engine.hpp"

#include <span>
#include <string>
#include <vector>

namespace noctule {

class View {
  public:
    explicit View(Engine& engine) : engine_(engine) {}

    double now() const { return engine_.now(); }
    std::uint32_t n_hosts() const { return engine_.n_hosts(); }
    std::uint32_t n_free() const { return engine_.n_free(); }
    const FreeHosts& free_hosts() const { return engine_.free_hosts(); }
    // Those of them that need not be woken, and the n hosts of a set that a job would get first.
    const FreeHosts& awake_free_hosts() const { return engine_.awake_free_hosts(); }
    HostSet first_free_of(const HostSet& among, std::uint32_t n) const {
        return engine_.first_free_of(among, n);
    }
    const Hierarchy& hierarchy() const { return engine_.hierarchy(); }
    const Releases& releases() const { return engine_.releases(); }
    double submit_time(JobIndex job) const { return engine_.job(job).submit_time; }
    double walltime(JobIndex job) const { return engine_.job(job).walltime; }
    std::uint32_t n_hosts(JobIndex job) const { return engine_.job(job).n_hosts; }
    std::uint32_t submission_number(JobIndex job) const { return engine_.submission_number(job); }
    // Of a running job; still to come while its hosts wake.
    double start_time(JobIndex job) const { return engine_.start_time(job); }
    double expected_end(JobIndex job) const { return engine_.expected_end(job); }
    HostSet hosts(JobIndex job) const { return engine_.hosts(job); }
    // Calls visit(Interval) for each run of hosts that a job holds, or held until its end.
    template <typename Visit> void for_each_run(JobIndex job, Visit&& visit) const {
        engine_.for_each_run(job, visit);
    }
    JobState state(JobIndex job) const { return engine_.state(job); }
    bool is_waiting(JobIndex job) const { return engine_.state(job) == JobState::waiting; }
    bool is_completing(JobIndex job) const { return engine_.is_completing(job); }
    // The job that a further attempt stands for; itself for a first one.
    JobIndex origin(JobIndex job) const { return engine_.attempt(job).origin; }

    const ExternalEvent& external_event(std::uint32_t number) const {
        return engine_.external_event(number);
    }
    // Hosts that come and go: see the engine.
    const std::vector<TimeWindow>& windows() const { return engine_.windows(); }
    WindowIndex reservation(JobIndex job) const { return engine_.reservation(job); }
    FreeHosts free_in(WindowIndex reservation) const { return engine_.free_in(reservation); }
    HostSet lost_hosts() const { return engine_.lost_hosts(); }
    double longest_waking() const { return engine_.longest_waking(); }
    HostSet hosts_that_wake() const { return engine_.hosts_that_wake(); }

    // Power, where the run counts energy.
    HostPhase phase(HostId host) const { return engine_.phase(host); }
    // Whether hosts that sleep or switch are free, and jobs wake them.
    bool wakes_hosts() const { return engine_.wakes_hosts(); }
    // Each throws DecisionError if the run has no power states, or the host none to sleep in.
    std::uint32_t sleep_state(HostId host) const { return engine_.sleep_state(host); }
    std::uint32_t computing_state(HostId host) const { return engine_.computing_state(host); }
    double switch_on_seconds(HostId host) const { return engine_.switch_on_seconds(host); }
    double switch_off_seconds(HostId host) const { return engine_.switch_off_seconds(host); }
    // When a host is awake, if it is switched on as soon as that can be.
    double awake_date(HostId host) const { return engine_.awake_date(host); }
    std::uint32_t n_hosts_in(HostPhase phase) const { return engine_.n_hosts_in(phase); }
    double joules() const { return engine_.joules(); }
    const PowerRequest& power_request(std::uint32_t number) const {
        return engine_.power_request(number);
    }

  private:
    Engine& engine_;
};

class Decisions {
  public:
    explicit Decisions(Engine& engine) : engine_(engine) {}

    void start(JobIndex job, Allocation allocation) { engine_.start(job, allocation); }
    void start(JobIndex job, const HostSet& hosts) { engine_.start(job, hosts); }
    void reject(JobIndex job) { engine_.reject(job); }
    void kill(JobIndex job) { engine_.kill({job}); }
    void requeue(JobIndex job, const std::string& why) { engine_.requeue(job, why); }
    void suspend(JobIndex job) { engine_.suspend(job); }
    void resume(JobIndex job) { engine_.resume(job); }
    void prolong_epilogue(JobIndex job, double seconds) { engine_.prolong_epilogue(job, seconds); }
    void end_if_interrupted(JobIndex job) { engine_.end_if_interrupted(job); }
    void keep_from_beginning(JobIndex job) { engine_.keep_from_beginning(job); }
    void set_metadata(JobIndex job, const std::string& text) { engine_.set_metadata(job, text); }
    void call_at(double time, TimerTag tag) { engine_.call_at(time, tag); }
    void cancel_call(TimerTag tag) { engine_.cancel_call(tag); }
    void set_power_state(const HostSet& hosts, std::uint32_t state) {
        engine_.set_power_state(hosts, state);
    }
    void apply(const Decision& decision) { engine_.apply(decision); }
    void postpone(double time, Decision decision) { engine_.postpone(time, std::move(decision)); }
    void be_busy_until(double time) { engine_.be_busy_until(time); }

  private:
    Engine& engine_;
};

class Policy {
  public:
    virtual ~Policy() = default;
    virtual void decide(const View& view, std::span<const Event> events, Decisions& decisions) = 0;
    // Whether jobs wake hosts that sleep, unless the run says otherwise.
    virtual bool wakes_hosts() const { return false; }

    // What was odd about the run, in sentences.
    virtual std::vector<std::string> warnings() const { return {}; }
};

// Runs at most `n_calls` calls of the policy; false once the run has ended.
inline bool run(Engine& engine, Policy& policy, std::uint64_t n_calls) {
    const View view(engine);
    Decisions decisions(engine);
    for (; n_calls > 0; --n_calls) {
        if (!engine.advance()) {
            return false;
        }
        policy.decide(view, engine.events(), decisions);
    }
    return true;
}

} // namespace noctule
