#include "errors.hpp"
#include "policies/policies.hpp"

#include <array>

namespace noctule {

namespace {

struct Entry {
    const char* name;
    std::unique_ptr<Policy> (*make)(Order, Allocation);
};

constexpr std::array<Entry, 5> policies{{
    {"conservative", make_conservative},
    {"easy", make_easy},
    {"fcfs", make_fcfs},
    {"filler", make_filler},
    {"replanning", make_replanning},
}};

} // namespace

std::vector<std::string> policy_names() {
    std::vector<std::string> names;
    for (const Entry& entry : policies) {
        names.emplace_back(entry.name);
    }
    return names;
}

std::unique_ptr<Policy> make_policy(std::string_view name, Order order, Allocation allocation) {
    for (const Entry& entry : policies) {
        if (name == entry.name) {
            std::unique_ptr<Policy> policy = entry.make(std::move(order), allocation);
            return allocation == Allocation::local ? make_group_limit(std::move(policy))
                                                   : std::move(policy);
        }
    }
    throw InputError("policy: got '" + std::string(name) + "', expected the name of a native one");
}

} // namespace noctule
