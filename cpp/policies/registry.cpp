#include "errors.hpp"
#include "policies/opportunistic.hpp"
#include "policies/policies.hpp"

#include <array>

namespace noctule {

namespace {

struct Entry {
    const char* name;
    std::unique_ptr<Policy> (*make)(PolicySetup);
};

using Make = std::unique_ptr<Policy> (*)(Order, Allocation);

// A policy without parameters of its own, or the version of it for absences of at least that kind;
// with opportunistic shutdown if it is to have it.
template <Make make, Make make_around, Absences least>
std::unique_ptr<Policy> make_queue_policy(PolicySetup setup) {
    const auto t_idle = setup.numbers.find("t_idle");
    std::unique_ptr<Policy> policy =
        (setup.absences < least ? make : make_around)(std::move(setup.order), setup.allocation);
    return t_idle == setup.numbers.end() || t_idle->second == infinity
               ? std::move(policy)
               : make_opportunistic(std::move(policy), t_idle->second);
}

// One with an energy budget: hosts are switched off between its dates only.
template <std::unique_ptr<Policy> (*make)(PolicySetup)>
std::unique_ptr<Policy> make_budget_policy(PolicySetup setup) {
    const double t_idle = setup.number("t_idle");
    const ShutdownWindow window{setup.number("budget_start"), setup.number("budget_end")};
    std::unique_ptr<Policy> policy = make(std::move(setup));
    return t_idle == infinity ? std::move(policy)
                              : make_opportunistic(std::move(policy), t_idle, window);
}

// Who only counts free hosts counts none that has failed; who plans must know.
template <Make make, Make make_around>
constexpr auto counting = make_queue_policy<make, make_around, Absences::foreseen>;
template <Make make, Make make_around>
constexpr auto planning = make_queue_policy<make, make_around, Absences::failures>;

constexpr std::array<Entry, 13> policies{{
    {"conservative", planning<make_conservative, make_conservative_around_windows>},
    {"easy", counting<make_easy, make_easy_around_windows>},
    {"energy_bf", make_energy_bf},
    {"energy_budget", make_budget_policy<make_energy_budget>},
    {"fcfs", counting<make_fcfs, make_fcfs_around_windows>},
    {"filler", counting<make_filler, make_filler_around_windows>},
    {"idle_sleeper", make_idle_sleeper},
    {"inertial", make_inertial},
    {"powercap", make_budget_policy<make_powercap>},
    {"proportional", make_proportional},
    {"reduce_powercap", make_budget_policy<make_reduce_powercap>},
    {"replanning", planning<make_replanning, make_replanning_around_windows>},
    {"sleeper", make_sleeper},
}};

} // namespace

double PolicySetup::number(std::string_view name) const {
    const auto found = numbers.find(name);
    if (found == numbers.end()) {
        throw InputError("policy: " + std::string(name) + ": not given, expected a number");
    }
    return found->second;
}

std::vector<std::string> policy_names() {
    std::vector<std::string> names;
    for (const Entry& entry : policies) {
        names.emplace_back(entry.name);
    }
    return names;
}

std::unique_ptr<Policy> make_policy(std::string_view name, PolicySetup setup) {
    for (const Entry& entry : policies) {
        if (name == entry.name) {
            const Allocation allocation = setup.allocation;
            std::unique_ptr<Policy> policy = entry.make(std::move(setup));
            return allocation == Allocation::local ? make_group_limit(std::move(policy))
                                                   : std::move(policy);
        }
    }
    throw InputError("policy: got '" + std::string(name) + "', expected the name of a native one");
}

} // namespace noctule
