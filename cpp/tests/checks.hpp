// What the unit tests of the core share: a count of what holds, and random numbers.
#pragma once

#include "host_set.hpp"

#include <cstdio>
#include <random>
#include <set>

namespace noctule {

inline int n_passed = 0;
inline int n_failed = 0;

inline void check(bool holds, const char* what, const char* file, int line) {
    ++(holds ? n_passed : n_failed);
    if (!holds) {
        std::printf("%s:%d: %s does not hold\n", file, line, what);
    }
}

#define CHECK(condition) ::noctule::check((condition), #condition, __FILE__, __LINE__)

using Random = std::mt19937;

inline std::uint32_t draw(Random& random, std::uint32_t first, std::uint32_t last) {
    return first + static_cast<std::uint32_t>(random() % (last - first + 1));
}

inline std::set<HostId> members(const HostSet& set) {
    std::set<HostId> hosts;
    for (const Interval& interval : set.intervals()) {
        for (HostId host = interval.first; host <= interval.last; ++host) {
            hosts.insert(host);
        }
    }
    return hosts;
}

// Each in the file of its name.
void test_arrays();
void test_plans();
void test_budgets();
void test_network();
void test_mpi();
void test_fluid();
void test_load();
void test_queue_history();
void test_protocol();
void test_replay();
void test_slurm_model();
void test_slurm_select();
void test_slurm_priority();
void test_slurm_limits();
void test_slurm_preemption();

} // namespace noctule
