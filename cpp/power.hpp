// Which hosts are awake, and the requests that change their power states.
#pragma once

#include "host_set.hpp"
#include "machine.hpp"

#include <array>
#include <string>
#include <vector>

namespace noctule {

enum class HostPhase : std::uint8_t { awake, switching_off, asleep, switching_on, failed };
inline constexpr std::size_t n_host_phases = 5;

struct PowerRequest {
    HostSet hosts;
    std::uint32_t state;
    std::uint32_t n_left; // hosts that are not there yet
};

class PowerControl {
  public:
    PowerControl(Machine& machine, std::uint32_t n_hosts, Token token_base);

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

  private:
    void set_phase(HostId host, HostPhase phase);
    StateKind kind(HostId host, std::uint32_t state) const {
        return machine_.model(host).kinds[state];
    }

    Machine& machine_;
    Token token_base_;
    std::vector<HostPhase> phases_;
    std::array<std::uint32_t, n_host_phases> counts_{};
    std::vector<PowerRequest> requests_;
    std::vector<std::uint32_t> request_of_; // the last one, by host
};

} // namespace noctule
