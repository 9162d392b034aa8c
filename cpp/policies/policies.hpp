// The native policies, by name.
#pragma once

#include "order.hpp"
#include "policy.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace noctule {

std::unique_ptr<Policy> make_fcfs(Order order, Allocation allocation);
std::unique_ptr<Policy> make_filler(Order order, Allocation allocation);
std::unique_ptr<Policy> make_easy(Order order, Allocation allocation);
std::unique_ptr<Policy> make_conservative(Order order, Allocation allocation);
std::unique_ptr<Policy> make_replanning(Order order, Allocation allocation);

std::vector<std::string> policy_names();

// Throws InputError if no policy has this name.
std::unique_ptr<Policy> make_policy(std::string_view name, Order order, Allocation allocation);

// Whether a job of n hosts can start now.
inline bool fits(const View& view, std::uint32_t n_hosts, Allocation allocation) {
    return n_hosts <= view.n_free() && (allocation != Allocation::contiguous ||
                                        view.free_hosts().find_run(n_hosts).has_value());
}

} // namespace noctule
