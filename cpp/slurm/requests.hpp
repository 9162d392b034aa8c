// What jobs ask of Slurm, by job: the workload's table says when they are submitted and how long
// they run, this says everything else.
#pragma once

#include "slurm/settings.hpp"

#include <limits>
#include <vector>

namespace noctule::slurm {

struct GresRequest {
    std::uint32_t kind;
    std::uint32_t per_node = 0;
    std::uint32_t per_job = 0;
    std::uint32_t per_task = 0;
};

struct LicenseRequest {
    std::uint32_t license;
    std::uint32_t count;
};

struct Dependency {
    enum class Kind : std::uint8_t {
        after,
        after_any,
        after_ok,
        after_not_ok,
        after_corr,
        singleton
    };
    Kind kind;
    JobIndex job;        // none for a singleton
    Minutes minutes = 0; // after the start, of `after`
};

struct Request {
    std::vector<std::uint32_t> partitions = {}; // in the order asked for; at least one
    std::uint32_t min_nodes = 1;
    std::uint32_t max_nodes = 0; // what it would like (`-N a-b` asks for b); 0: what its CPUs need
    std::uint32_t tasks = 0;     // 0: not said
    std::uint32_t cpus_per_task = 1;
    std::uint32_t tasks_per_node = 0;
    std::uint32_t min_cpus = 0;  // of the whole job; 0: one for each node
    std::uint64_t memory_mb = 0; // 0: the partition's default
    bool memory_is_per_cpu = false;
    bool all_memory = false; // of each node, whatever the default is
    bool exclusive = false;
    bool exclusive_user = false; // its nodes are for jobs of its user only
    bool contiguous = false;
    bool one_switch = false; // asks for nodes of one leaf switch, and waits so long for them
    Seconds switch_wait = 0;
    bool oversubscribe = false;
    std::uint32_t constraint = none; // of Settings::constraints
    NodeSet required = {};           // n_nodes() is 0 where it asks for none
    NodeSet excluded = {};
    std::vector<GresRequest> gres = {};
    std::vector<LicenseRequest> licenses = {};

    Minutes limit =
        no_limit;         // whole minutes; compiled: never left open but where nothing bounds it
    Minutes time_min = 0; // 0: none
    Seconds begin = 0;    // dates of the epoch
    Seconds deadline = no_date;
    std::int64_t nice = 0;
    std::uint32_t priority = 0; // asked for; 0: as the priority plugin says
    bool held = false;          // until `release`
    Seconds release = no_date;

    std::uint32_t user = 0;
    std::uint32_t association = none;
    std::uint32_t qos = none;
    std::uint32_t reservation = none; // of the windows of the run
    std::uint32_t name = none;        // equal numbers are equal names: for singleton

    // Tasks of one array are neighbours in the workload, in the order of their numbers.
    std::uint32_t array = none;
    std::uint32_t array_task = 0;
    std::uint32_t array_throttle = 0; // of the array: at most so many run at once; 0: no bound

    std::uint32_t het = none; // of its heterogeneous job, whose components start together

    std::vector<Dependency> dependencies = {};
    bool any_dependency = false; // one of them is enough
    Seconds started = no_date;   // it ran already: starts then, on these nodes
    NodeSet started_on = {};
    double suspended = 0.0;    // seconds of its run in which it was suspended
    bool fails = false;        // for after_ok
    bool requeue = true;       // otherwise it ends when it is preempted
    bool ignores_term = false; // it ends KillWait after it was told to

    std::uint32_t wanted_nodes() const { return max_nodes > min_nodes ? max_nodes : min_nodes; }
};

using Requests = std::vector<Request>; // by JobIndex

} // namespace noctule::slurm
