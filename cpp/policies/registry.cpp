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

// A policy without parameters of its own, with opportunistic shutdown if it is to have it.
template <std::unique_ptr<Policy> (*make)(Order, Allocation)>
std::unique_ptr<Policy> make_queue_policy(PolicySetup setup) {
    const auto t_idle = setup.numbers.find("t_idle");
    std::unique_ptr<Policy> policy = make(std::move(setup.order), setup.allocation);
    return t_idle == setup.numbers.end() || t_idle->second == infinity
               ? std::move(policy)
               : make_opportunistic(std::move(policy), t_idle->second);
}

constexpr std::array<Entry, 8> policies{{
    {"conservative", make_queue_policy<make_conservative>},
    {"easy", make_queue_policy<make_easy>},
    {"energy_budget", make_energy_budget},
    {"fcfs", make_queue_policy<make_fcfs>},
    {"filler", make_queue_policy<make_filler>},
    {"powercap", make_powercap},
    {"reduce_powercap", make_reduce_powercap},
    {"replanning", make_queue_policy<make_replanning>},
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
