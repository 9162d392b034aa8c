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

class PowerControl {
  public:
    // Keeps the free hosts told apart.
    PowerControl(Machine& machine, FreePool& free, Token token_base);

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

    // Takes the end of a switch.
    struct Switched {
        HostId host;
        std::uint32_t request;
    };
    Switched end_switch(Token token);

    void set_failed(HostId host, bool failed);

    // Where hosts sleep if nobody says where, no_state if they cannot, and where they compute.
    static constexpr std::uint32_t no_state = 0xffffffff;
    std::uint32_t sleep_state(HostId host) const;
    std::uint32_t computing_state(HostId host) const;
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
        return machine_.model(host).kinds[state];
    }

    const SleepState& sleep(HostId host, std::uint32_t state) const;
    double seconds_in(HostId host, std::uint32_t state) const {
        return 1.0 / machine_.model(host).speeds[state]; // for one flop
    }

    Machine& machine_;
    FreePool& free_;
    Token token_base_;
    std::vector<HostPhase> phases_;
    std::array<std::uint32_t, n_host_phases> counts_{};
    FreeHosts awake_;                   // held by jobs or not
    std::vector<double> switch_ends_;   // the last one, by host
    std::vector<std::uint8_t> to_wake_; // once they are off
    std::vector<PowerRequest> requests_;
    std::vector<std::uint32_t> request_of_; // the last one, by host
};

} // namespace noctule
