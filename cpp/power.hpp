// Which hosts are awake, and the requests that change their power states.
#pragma once

#include "free_pool.hpp"
#include "machine.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace noctule {

struct PowerRequest {
    HostSet hosts;
    std::uint32_t state;
    std::uint32_t n_left; // hosts that are not there yet
};

// The state in which hosts compute if nobody asks for another one.
std::uint32_t computing_state(const HostModel& model);

// Hosts as their power is controlled: those of a machine, or those of a book (power_book.hpp).
class PoweredHosts {
  public:
    virtual ~PoweredHosts() = default;

    virtual double now() const = 0;
    virtual const HostModel& model(HostId host) const = 0;
    virtual std::uint32_t state(HostId host) const = 0;
    virtual void set_state(HostId host, std::uint32_t state) = 0; // at once
    // Through a state of switching, which ends at this date if nothing slows the host down.
    virtual void switch_state(HostId host, std::uint32_t through, std::uint32_t state,
                              double end) = 0;
};

class HostsOfMachine final : public PoweredHosts {
  public:
    HostsOfMachine(Machine& machine, Token token_base)
        : machine_(machine), token_base_(token_base) {}

    double now() const override { return machine_.now(); }
    const HostModel& model(HostId host) const override { return machine_.model(host); }
    std::uint32_t state(HostId host) const override { return machine_.state(host); }
    void set_state(HostId host, std::uint32_t state) override { machine_.set_state(host, state); }
    void switch_state(HostId host, std::uint32_t through, std::uint32_t state, double) override {
        machine_.switch_state(host, through, state, token_base_ | host);
    }

  private:
    Machine& machine_;
    Token token_base_;
};

class PowerControl {
  public:
    // Keeps the free hosts told apart.
    PowerControl(PoweredHosts& hosts, FreePool& free);

    HostPhase phase(HostId host) const { return phases_[host]; }
    std::uint32_t count(HostPhase phase) const { return counts_[static_cast<std::size_t>(phase)]; }

    // Why a host cannot go to a state, or nothing.
    std::string obstacle(HostId host, std::uint32_t state, bool is_free) const;
    // Whether a host that goes to a state can no longer run jobs.
    bool puts_to_sleep(HostId host, std::uint32_t state) const;

    // Begins what has no obstacles; returns the number of the request. Changes between states that
    // compute are done at once.
    std::uint32_t begin(const HostSet& hosts, std::uint32_t state);
    const PowerRequest& request(std::uint32_t number) const { return requests_[number]; }

    // Takes the end of a switch; returns the number of the request.
    std::uint32_t end_switch(HostId host);

    void set_failed(HostId host, bool failed);

    // Where hosts sleep if nobody says where, no_state if they cannot, and where they compute.
    static constexpr std::uint32_t no_state = 0xffffffff;
    std::uint32_t sleep_state(HostId host) const;
    std::uint32_t computing_state(HostId host) const {
        return noctule::computing_state(hosts_.model(host));
    }
    std::uint32_t state(HostId host) const { return hosts_.state(host); }
    // From and to that state to sleep in.
    double switch_on_seconds(HostId host) const;
    double switch_off_seconds(HostId host) const;

    // When a host that has not failed is awake, if it is switched on as soon as that can be.
    double awake_date(HostId host) const;
    bool are_awake(Interval hosts) const { return awake_.contains(hosts); }
    // A host that is being switched off is to be switched on then.
    void wake_when_off(HostId host) { to_wake_[host] = 1; }
    bool take_wish_to_wake(HostId host) { return std::exchange(to_wake_[host], 0) != 0; }

  private:
    void set_phase(HostId host, HostPhase phase);
    StateKind kind(HostId host, std::uint32_t state) const {
        return hosts_.model(host).kinds[state];
    }

    const SleepState& sleep(HostId host, std::uint32_t state) const;
    double seconds_in(HostId host, std::uint32_t state) const {
        return 1.0 / hosts_.model(host).speeds[state]; // for one flop
    }

    PoweredHosts& hosts_;
    FreePool& free_;
    std::vector<HostPhase> phases_;
    std::array<std::uint32_t, n_host_phases> counts_{};
    FreeHosts awake_;                   // held by jobs or not
    std::vector<double> switch_ends_;   // the last one, by host
    std::vector<std::uint8_t> to_wake_; // once they are off
    std::vector<PowerRequest> requests_;
    std::vector<std::uint32_t> request_of_; // the last one, by host
};

} // namespace noctule
