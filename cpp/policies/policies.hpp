// The native policies, by name.
#pragma once

#include "allocation.hpp"
#include "order.hpp"
#include "policy.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace noctule {

// What a policy is told when it is made.
struct PolicySetup {
    Order order;
    Allocation allocation = Allocation::first;
    std::map<std::string, double, std::less<>> numbers = {}; // its own parameters
    Absences absences = Absences::none;                      // that the run has

    // Throws InputError if it was not given.
    double number(std::string_view name) const;
};

std::unique_ptr<Policy> make_fcfs(Order order, Allocation allocation);
std::unique_ptr<Policy> make_filler(Order order, Allocation allocation);
std::unique_ptr<Policy> make_easy(Order order, Allocation allocation);
std::unique_ptr<Policy> make_conservative(Order order, Allocation allocation);
std::unique_ptr<Policy> make_replanning(Order order, Allocation allocation);
std::unique_ptr<Policy> make_proportional(PolicySetup setup);
std::unique_ptr<Policy> make_inertial(PolicySetup setup);
std::unique_ptr<Policy> make_energy_bf(PolicySetup setup);
std::unique_ptr<Policy> make_idle_sleeper(PolicySetup setup);
std::unique_ptr<Policy> make_sleeper(PolicySetup setup);
std::unique_ptr<Policy> make_powercap(PolicySetup setup);
std::unique_ptr<Policy> make_energy_budget(PolicySetup setup);
std::unique_ptr<Policy> make_reduce_powercap(PolicySetup setup);

// The same where hosts come and go: they plan around windows of time and hosts that are away.
std::unique_ptr<Policy> make_fcfs_around_windows(Order order, Allocation allocation);
std::unique_ptr<Policy> make_filler_around_windows(Order order, Allocation allocation);
std::unique_ptr<Policy> make_easy_around_windows(Order order, Allocation allocation);
std::unique_ptr<Policy> make_conservative_around_windows(Order order, Allocation allocation);
std::unique_ptr<Policy> make_replanning_around_windows(Order order, Allocation allocation);

// The policy for all jobs that fit into the largest group of hosts; the others are rejected.
std::unique_ptr<Policy> make_group_limit(std::unique_ptr<Policy> policy);

std::vector<std::string> policy_names();

// Throws InputError if no policy has this name.
std::unique_ptr<Policy> make_policy(std::string_view name, PolicySetup setup);

// Whether a job of n hosts can start now.
inline bool fits(const View& view, std::uint32_t n_hosts, Allocation allocation) {
    return finds_hosts(allocation, n_hosts, view.free_hosts(), view.hierarchy());
}

} // namespace noctule
