// The simulated machine: hosts and links that activities share, in simulated time, and their power.
//
// It knows no jobs. An activity is a sleep, a message, a parallel task or a switch of power states;
// whoever started it gets its token back when it has ended. Rates are worked out when somebody asks
// for the next date, so all changes of one instant are solved together.
#pragma once

#include "date_heap.hpp"
#include "energy.hpp"
#include "fluid.hpp"
#include "network/network.hpp"

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace noctule {

using ActivityId = std::uint32_t;
using Token = std::uint64_t; // says whose an activity is

// What a power state is for.
enum class StateKind : std::uint8_t { computing, sleeping, switching };

// A state to sleep in, and those in which a host computes one flop on the way there and back.
struct SleepState {
    std::uint32_t state;
    std::uint32_t switching_off;
    std::uint32_t switching_on;
};

// What hosts have in common that were described by the same words; vectors are by power state.
struct HostModel {
    std::vector<double> speeds; // flops a second of one core
    std::vector<StateKind> kinds;
    std::vector<Watts> watts; // empty if they are not known
    std::vector<SleepState> sleeps = {};
    double watts_off = 0.0;
    std::uint32_t cores = 1;
    std::uint32_t state = 0; // at the beginning
};

// A quantity that changes by itself.
struct Availability {
    enum class What : std::uint8_t { speed, host, bandwidth, latency, link };
    struct Point {
        double time;
        double value; // a factor of speeds; 0 for off; bytes a second; seconds
    };
    What what;
    std::uint32_t subject; // a host or a link
    std::vector<Point> points;
    double period = infinity; // after which it begins again
};

struct MachinePlan {
    std::vector<HostModel> models;
    std::vector<std::uint32_t> model_of; // by host
    std::shared_ptr<const NetworkPlan> network;
    std::vector<Availability> availabilities;
    double tcp_window = 4194304.0; // a flow has half of it on its way at most
    std::size_t n_billed = 0;      // hosts that count in totals: the first ones
};

enum class Billing : std::uint8_t {
    none,
    exact,
    lazy, // as SimGrid does: at some events only, at the watts of that moment
};

struct MachineOptions {
    Sharing sharing = Sharing::fair_bottleneck;
    Billing billing = Billing::none;
    // What ends within SimGrid's precision of dates ends together, in the order of beginning.
    bool rounds_dates = false;
};

enum class Ending : std::uint8_t { done, failed }; // one of its hosts or links was off

struct Ended {
    ActivityId activity;
    Token token;
    Ending how;
};

class Machine {
  public:
    Machine(std::shared_ptr<const MachinePlan> plan, const MachineOptions& options);

    double now() const { return now_; }
    // When something happens by itself, if nothing new is begun; infinity if nothing does.
    double next_time();
    // Goes to a date that is not beyond next_time().
    void advance_to(double time);
    // What ended at the last advance. Ids may be used again after the next one.
    std::span<const Ended> ended() const { return ended_; }
    // Hosts that availabilities have switched on or off since the last call.
    std::vector<HostId> take_toggled() { return std::exchange(toggled_, {}); }

    // Activities with nothing to do end at the date at which they begin.
    ActivityId sleep(HostId host, double seconds, Token token);
    ActivityId execute(HostId host, double flops, Token token); // on one core
    ActivityId send(HostId from, HostId to, double bytes, Token token);
    // A parallel task: flops by executor, bytes from each to each; either may be empty.
    ActivityId run(std::span<const HostId> hosts, std::span<const double> flops,
                   std::span<const double> bytes, Token token);
    // One whose executors all compute and send the same.
    ActivityId run_alike(std::span<const HostId> hosts, double flops, double bytes, Token token);
    // One that only sends, each flow at the same rate.
    ActivityId transfer(std::span<const HostId> hosts, std::span<const Flow> flows, Token token);
    // Through a state in which one flop is computed to another.
    ActivityId switch_state(HostId host, std::uint32_t through, std::uint32_t state, Token token);
    void cancel(ActivityId activity);
    // From 1 at the beginning to 0 at the end.
    double remaining(ActivityId activity) const;

    std::uint32_t state(HostId host) const { return hosts_[host].state; }
    void set_state(HostId host, std::uint32_t state); // at once
    bool is_on(HostId host) const { return hosts_[host].is_on; }
    void set_on(HostId host, bool is_on);
    void set_bandwidth(LinkId link, double bandwidth);
    void set_latency(LinkId link, double latency);

    double load(HostId host) const { return fluid_.usage(host); } // flops a second
    double watts(HostId host) const;
    double joules(HostId host);
    double last_bill(HostId host) const { return ledger_.since(host); }
    Joules spent(HostId host);
    bool counts_energy() const { return options_.billing != Billing::none; }
    bool bills_exactly() const { return options_.billing == Billing::exact; }
    // Of all hosts that are billed; the least is that of a load which is hardly any.
    double total_joules();
    double total_watts() const { return ledger_.total_watts(); }
    double least_watts() const { return least_watts_; }

    Network& network() { return network_; }
    const HostModel& model(HostId host) const { return plan_->models[plan_->model_of[host]]; }
    std::size_t n_hosts() const { return hosts_.size(); }

  private:
    static constexpr TaskId no_task = 0xffffffff;
    static constexpr std::uint32_t no_state = 0xffffffff;

    struct HostStatus {
        std::uint32_t state;
        std::uint32_t billed_state = 0; // of a lazy bill: as of the last one, and 0 before it
        bool is_on = true;
        bool is_touched = false;   // its load may have changed
        double availability = 1.0; // of its speed
    };

    struct Activity {
        Token token = 0;
        std::uint64_t sequence = 0;
        TaskId task = no_task; // once it has left its latency behind
        bool is_live = false;
        bool is_sleep = false;
        bool has_failed = false;
        std::uint32_t final_state = no_state; // of the host that is switched
        double left = 1.0;                    // at `since`
        double since = 0.0;
        double rate = 0.0;
        double date = infinity; // of its end, or of the end of its latency
        std::vector<HostId> hosts;
        std::vector<double> flops;
        std::vector<Flow> flows;    // or
        double bytes_of_each = 0.0; // from each to each
        std::vector<LinkLoad> loads;
        double latency_bytes = 0.0;
        std::uint32_t n_latency_changes = 0; // before it
    };

    ActivityId begin(std::span<const HostId> hosts, Token token);
    void start_task(ActivityId id, const Traffic& traffic);
    void enable(ActivityId id);
    void gather_uses(const Activity& activity);
    double bound_of(const Activity& activity) const;
    double speed_of(HostId host) const;
    void set_date(ActivityId id, double date);
    void leave(ActivityId id);
    void finish(ActivityId id);
    void fail_if(auto uses_it);
    void gather_due();
    bool is_due(ActivityId id) const;
    double rounding() const;
    double left_of(const Activity& activity) const;
    void solve();
    void refresh_host(HostId host);
    void refresh_bounds(ResourceId resource);
    void apply(const Availability& change, double value);
    void set_link_on(LinkId link, bool is_on);
    void schedule_availability(std::uint32_t index);
    void apply_availabilities();

    ResourceId resource_of(LinkId link) const {
        return static_cast<ResourceId>(hosts_.size()) + link;
    }
    Traffic traffic_of(const Activity& activity);

    void touch(HostId host);
    void settle_power();
    double watts_in(HostId host, std::uint32_t state) const;
    Spending spending(HostId host) const;
    double least_watts_of(HostId host) const;
    void bill_lazily(HostId host);
    void bill_what_is_due(HostId host);
    void bill_lazily(const Activity& activity);

    std::shared_ptr<const MachinePlan> plan_;
    MachineOptions options_;
    double now_ = 0.0;
    Network network_;
    Fluid fluid_;
    EnergyLedger ledger_;
    std::vector<HostStatus> hosts_;
    std::vector<bool> links_off_; // empty if all are on
    std::vector<Activity> activities_;
    std::vector<ActivityId> activity_of_; // by task
    std::vector<ActivityId> spare_;
    std::vector<ActivityId> leaving_; // spare from the next advance on
    std::size_t n_live_ = 0;
    std::uint64_t sequence_ = 0;
    DateHeap dates_;
    DateHeap availability_dates_;
    struct Cursor {
        std::size_t next = 0;
        double offset = 0.0;
    };
    std::vector<Cursor> cursors_; // of the availabilities
    std::vector<ActivityId> due_; // scratch of advance_to
    std::vector<Ended> ended_;
    std::vector<Use> uses_;
    std::vector<std::uint32_t> use_of_host_; // scratch of gather_uses: a use and 1, or 0
    std::vector<HostId> touched_;
    std::vector<HostId> toggled_;
    double least_watts_ = 0.0;
    std::uint32_t n_latency_changes_ = 0;
    bool hosts_come_and_go_ = false; // by themselves
};

} // namespace noctule
