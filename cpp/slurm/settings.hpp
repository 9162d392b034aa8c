// What a site's configuration says, compiled: nodes, partitions, and every parameter of the
// schedulers with Slurm's default. Names are those of slurm.conf, in this project's spelling.
#pragma once

#include "slurm/accounting.hpp"
#include "slurm/node_set.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace noctule::slurm {

struct Node {
    std::uint32_t cpus = 1;
    std::uint32_t sockets = 1;
    std::uint32_t cores_per_socket = 1;
    std::uint32_t threads_per_core = 1;
    std::uint64_t memory_mb = 1;
    std::uint32_t weight = 1;
    std::uint32_t line = 0;               // of the configuration: nodes of one are tried together
    std::vector<std::uint32_t> gres = {}; // how many of each kind; may be shorter than the kinds
    HostId first_host = 0;                // of the platform: one with linear, or its cores
    std::uint32_t n_hosts = 1;
    Seconds suspend_time = -1;    // idle before it is switched off; negative: never
    Seconds suspend_timeout = 30; // it cannot be used while it is switched off
    Seconds resume_timeout = 60;  // it is set down if it has not booted by then

    std::uint32_t cores() const { return sockets * cores_per_socket; }
};

enum class PartitionState : std::uint8_t { up, down, drain, inactive };
enum class Oversubscribe : std::uint8_t { no, exclusive, yes, force };

struct Partition {
    std::string name = {};
    NodeSet nodes = {};
    PartitionState state = PartitionState::up;
    std::uint32_t priority_tier = 1;
    std::uint32_t priority_job_factor = 1;
    Minutes max_time = no_limit;
    Minutes default_time = no_limit; // of jobs that ask for none; compiled into requests
    std::uint32_t min_nodes = 0;
    std::uint32_t max_nodes = no_bound;
    std::uint32_t max_cpus_per_node = no_bound;
    std::uint64_t max_memory_per_node_mb = 0; // 0: no bound
    std::uint64_t default_memory_mb = 0;      // 0: all; per CPU if the next says so
    bool default_memory_is_per_cpu = false;
    Oversubscribe oversubscribe = Oversubscribe::no;
    std::uint32_t oversubscribe_jobs = 1; // at most so many jobs share a node
    bool exclusive_user = false;
    bool least_loaded_nodes = false;
    PreemptMode preempt_mode = PreemptMode::off;
    Seconds grace_time = 0;
    Minutes over_time_limit = -1; // the cluster's if negative
    std::uint32_t qos = none;
};

enum class SelectType : std::uint8_t { linear, cons_res, cons_tres };

// Of SelectTypeParameters.
struct SelectParameters {
    SelectType type = SelectType::linear;
    enum class Unit : std::uint8_t { cpu, core, socket, memory_only };
    Unit unit = Unit::cpu;
    bool memory = false;
    bool pack_nodes = false;
    bool least_loaded_nodes = false;
    bool one_task_per_core = false;
    bool core_default_block = false;
    bool pack_serial_at_end = false;
};

enum class PreemptType : std::uint8_t { none, partition_prio, qos };

// Microseconds that the scheduler itself takes, by what it does; all zero: it takes no time.
struct CostModel {
    double main_pass = 0.0;
    double main_test = 0.0; // of each job that is tried
    double backfill_pass = 0.0;
    double backfill_test = 0.0;      // each call of the prediction
    double prediction_step = 0.0;    // each running job that a prediction removes
    double reservation_record = 0.0; // each record of the plan that a test walks
};

struct Parameters {
    bool backfills = true; // sched/backfill, or sched/builtin

    // The main scheduler.
    std::uint32_t default_queue_depth = 100;
    std::uint32_t partition_job_depth = 0;
    Seconds sched_interval = 60; // -1: no main scheduling
    double sched_min_interval_us = 2;
    std::uint32_t sched_max_job_start = 0;
    double max_sched_time = 2.0;
    Seconds batch_sched_delay = 3;
    bool defer = false;
    bool assoc_limit_stop = false;
    bool reduce_completing_frag = false;

    // Backfilling.
    Seconds bf_interval = 30; // -1: none
    double bf_max_time = 30.0;
    Seconds bf_resolution = 60;
    Minutes bf_window = 1440;
    Seconds bf_window_linear = 0;
    std::uint32_t bf_max_job_test = 500;
    std::uint32_t bf_max_job_start = 0;
    std::uint32_t bf_max_job_part = 0;
    std::uint32_t bf_max_job_user = 0;
    std::uint32_t bf_max_job_user_part = 0;
    std::uint32_t bf_max_job_assoc = 0;
    std::uint32_t bf_max_job_array_resv = 20;
    std::uint32_t bf_job_part_count_reserve = 0;
    std::uint32_t bf_node_space_size = 0; // 0: bf_max_job_test
    std::uint32_t bf_queue_limit = 0;     // jobs looked at; 0: all. BSC's simulator has it
    Seconds bf_min_age_reserve = 0;
    std::uint32_t bf_min_prio_reserve = 0;
    double bf_yield_interval_us = 2e6;
    double bf_yield_sleep_us = 5e5;
    bool bf_continue = false;
    bool bf_busy_nodes = false;
    bool bf_running_job_reserve = false;
    bool bf_licenses = false;
    bool bf_one_resv_per_job = false;
    bool bf_hetjob_immediate = false; // start components within the pass
    enum class HetPriority : std::uint8_t { own, min, avg, max };
    HetPriority bf_hetjob_prio = HetPriority::own; // of all components of a heterogeneous job

    // Ends of jobs.
    Minutes over_time_limit = 0;
    Seconds kill_wait = 30;
    Seconds complete_wait = 0;
    bool has_epilog = false;
    bool kill_invalid_depend = false;
    enum class PartLimits : std::uint8_t { no, any, all };
    PartLimits enforce_part_limits = PartLimits::no; // otherwise such jobs are refused

    // Power saving.
    std::uint32_t suspend_rate = 60; // nodes a minute; 0: all
    std::uint32_t resume_rate = 300;
    bool late_nodes_return = false; // ReturnToService=2: once they have booted after all
    double boot_failures = 0.0;     // share of boots that never end
    std::uint64_t boot_seed = 0;
    Seconds repair_seconds = no_date; // until a node that was set down is put right

    // Preemption.
    PreemptType preempt_type = PreemptType::none;
    PreemptMode preempt_mode = PreemptMode::off;
    bool preempt_youngest_first = false;
    bool preempt_strict_order = false;
    std::uint32_t preempt_reorder_count = 1;
    Seconds preempt_exempt_time = 0;
    std::uint32_t min_exempt_priority = std::numeric_limits<std::uint32_t>::max();
    bool preempts_within = false; // a QOS, by priority
    bool gang = false;            // jobs that share cores or nodes take turns
    Seconds time_slice = 30;
    Seconds message_timeout = 10;
    Seconds requeue_delay = 121; // until credentials of the last attempt have expired

    SelectParameters select = {};
    CostModel cost = {};
};

struct License {
    std::string name;
    std::uint32_t total;
};

struct Settings {
    std::vector<Node> nodes = {};
    std::vector<Partition> partitions = {};
    std::vector<std::string> gres_kinds = {};
    std::vector<License> licenses = {};
    // Nodes that expressions over features allow: those of `-C`, each compiled once.
    std::vector<NodeSet> constraints = {};
    // Switches of topology/tree, leaves first: the nodes below each, and the switch above it.
    struct Switch {
        NodeSet nodes;
        std::uint32_t level;
        std::uint32_t parent = none;
    };
    std::vector<Switch> switches = {};
    // Lists of nodes of which the first idle ones are never switched off, and how many.
    struct KeptNodes {
        NodeSet nodes;
        std::uint32_t n;
    };
    std::vector<KeptNodes> kept_nodes = {};
    Parameters parameters = {};
    PriorityParameters priority = {};
    Accounting accounting = {};
    Seconds epoch = 0; // the date of the run's zero

    std::uint32_t n_nodes() const { return static_cast<std::uint32_t>(nodes.size()); }
};

// Whether several jobs may be given the same cores.
inline bool shares_cores(const Settings& settings) {
    return settings.parameters.gang ||
           std::ranges::any_of(settings.partitions, [](const Partition& partition) {
               return partition.oversubscribe >= Oversubscribe::yes &&
                      partition.oversubscribe_jobs > 1;
           });
}

} // namespace noctule::slurm
