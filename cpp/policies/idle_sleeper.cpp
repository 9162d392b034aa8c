// EASY backfilling with hosts that sleep when they are idle, as in batsched's family of energy_bf.
//
// They have no off reservation: any job wakes what it needs, and the hosts that are kept for the
// first job stay awake. `energy_bf` puts all other idle hosts to sleep at once, `idle_sleeper`
// (energy_bf_idle_sleeper) those that have been idle for t_idle seconds when a period ends.
#include "policies/shutdown_easy.hpp"

namespace noctule {

std::unique_ptr<Policy> make_energy_bf(PolicySetup setup) {
    ShutdownEasy::require_first(setup.allocation);
    return std::make_unique<ShutdownEasy>(std::move(setup.order),
                                          ShutdownEasy::Parameters{.t_idle = 0.0});
}

std::unique_ptr<Policy> make_idle_sleeper(PolicySetup setup) {
    ShutdownEasy::require_first(setup.allocation);
    const ShutdownEasy::Parameters parameters{.t_idle = setup.number("t_idle"),
                                              .period = setup.number("period"),
                                              .run_on_period = true,
                                              .from_first_job = true,
                                              .tests_at_events = setup.number("at_events") != 0,
                                              .tests_while_waking = true};
    return std::make_unique<ShutdownEasy>(std::move(setup.order), parameters);
}

} // namespace noctule
