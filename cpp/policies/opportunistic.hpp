// Opportunistic shutdown, for any policy: hosts that stay idle for too long are switched off.
//
// Poquet, "Approche par la simulation pour la gestion de ressources" (thesis, Grenoble 2017),
// section 7.3.2. A job that needs them wakes them, by the option wake_for_jobs, which a policy with
// this module asks for.
#pragma once

#include "policies/policies.hpp"

namespace noctule {

// When hosts may be switched off.
struct ShutdownWindow {
    double begin = 0.0;
    double end = infinity;
};

// The policy, with hosts switched off that were idle for t_idle seconds, and are so inside the
// window. The policy does not hear the module's timer, whose tag is `idle_timer`: its own timers
// have others.
std::unique_ptr<Policy> make_opportunistic(std::unique_ptr<Policy> policy, double t_idle,
                                           ShutdownWindow window = {});

inline constexpr TimerTag idle_timer = 0;

// Switches hosts off, each to the state that it sleeps in.
void switch_off(const View& view, std::vector<HostId>& hosts, Decisions& decisions);

} // namespace noctule
