#include "errors.hpp"
#include "policies/policies.hpp"

#include <array>

namespace noctule {

namespace {

struct Entry {
    const char* name;
    std::unique_ptr<Policy> (*make)(PolicySetup);
};

// A policy without parameters of its own.
template <std::unique_ptr<Policy> (*make)(Order, Allocation)>
std::unique_ptr<Policy> make_queue_policy(PolicySetup setup) {
    return make(std::move(setup.order), setup.allocation);
}

constexpr std::array<Entry, 5> policies{{
    {"conservative", make_queue_policy<make_conservative>},
    {"easy", make_queue_policy<make_easy>},
    {"fcfs", make_queue_policy<make_fcfs>},
    {"filler", make_queue_policy<make_filler>},
    {"replanning", make_queue_policy<make_replanning>},
}};

} // namespace

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
