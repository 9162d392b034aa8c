// Power states and joules where no machine is needed: jobs have a timer each, and hosts to
// themselves.
//
// Totals are brought up to date at each change, in a time that does not depend on how many hosts
// there are. Hosts one by one are counted as if no job ran, until somebody asks to track their
// loads: what jobs draw can be told from the record as long as hosts compute in their usual states.
#pragma once

#include "power.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace noctule {

// Watts of hosts that a job holds: without it, and while it computes.
struct Draw {
    double idle = 0.0;
    double computing = 0.0;
};

class PowerBook final : public PoweredHosts {
  public:
    PowerBook(std::shared_ptr<const MachinePlan> plan, std::uint32_t n_hosts);

    void go_to(double now) { now_ = now; }

    double now() const override { return now_; }
    const HostModel& model(HostId host) const override {
        return plan_->models[plan_->model_of[host]];
    }
    std::uint32_t state(HostId host) const override { return states_[host]; }
    // Of a host of which no job is billed meanwhile.
    void set_state(HostId host, std::uint32_t state) override;
    void switch_state(HostId host, std::uint32_t through, std::uint32_t state, double end) override;

    // Hosts that come out of a switch together.
    using Group = std::uint32_t;
    struct Begun {
        double end;
        Group group;
    };
    // Those that have begun to switch since the last call.
    std::vector<Begun> take_begun() { return std::exchange(begun_, {}); }
    // Brings a group to the state that it was switched to.
    HostSet end_switch(Group group);

    // Takes a host away, or brings it back; true if it was being switched, which it no longer is.
    bool set_on(HostId host, bool is_on);

    // Flops a second of the slowest of the hosts, and their watts; of those that are not awake,
    // as they will be.
    double pace(Interval hosts) const;
    Draw draw(Interval hosts, double pace) const;
    // Whether hosts are all the same, in the same state whenever they are awake; then:
    bool is_uniform() const { return is_uniform_; }
    double uniform_pace() const { return uniform_pace_; }
    Draw uniform_draw(std::uint32_t n_hosts) const {
        return {uniform_.idle * n_hosts, uniform_.computing * n_hosts};
    }

    // A job begins to compute on hosts that draw so much, and stops.
    void load(const Draw& draw) { add_watts(draw.computing - draw.idle); }
    void unload(const Draw& draw) { add_watts(draw.idle - draw.computing); }

    double total_joules() const { return joules_ + total_watts() * (now_ - since_); }
    double total_watts() const { return watts_.get(); }
    double least_watts() const { return least_watts_; }

    // Of a host: without its jobs, unless loads are tracked.
    Joules spent(HostId host) const { return ledger_.spent(host, now_); }
    bool tracks_loads() const { return !paces_.empty(); }
    // From now on, with what jobs have changed so far.
    void track_loads(const std::vector<Joules>& by_jobs);
    void set_pace(HostId host, double pace); // of the job on it, 0 without one

  private:
    // A sum of many changes (Neumaier's).
    struct Sum {
        double value = 0.0;
        double error = 0.0;

        void add(double change);
        double get() const { return value + error; }
    };

    struct Switch {
        double end;
        std::uint32_t state;
        HostSet hosts;
    };

    std::uint32_t awake_state(HostId host) const;
    template <typename Change> void change(HostId host, Change&& apply);
    void add_watts(double change);
    // Without a job.
    Spending spending(HostId host) const;
    double watts(HostId host) const;
    bool is_off(HostId host) const { return !off_.empty() && off_[host] != 0; }
    double least_watts_of(HostId host) const { return model(host).watts[states_[host]].epsilon; }
    void note(HostId host);

    std::shared_ptr<const MachinePlan> plan_;
    double now_ = 0.0;
    std::vector<std::uint32_t> states_;
    std::vector<std::uint8_t> off_; // by host; empty if none ever was
    EnergyLedger ledger_;
    std::vector<double> paces_; // by host, where they are tracked
    Sum watts_;
    double joules_ = 0.0;
    double since_ = 0.0;
    double least_watts_ = 0.0;
    std::vector<Switch> switches_;
    std::vector<Group> spare_;
    std::vector<Begun> begun_;
    bool is_uniform_ = false;
    double uniform_pace_ = 0.0;
    Draw uniform_{};
};

} // namespace noctule
