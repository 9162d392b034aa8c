// What a site's accounting database says: accounts and users with their shares, qualities of
// service, and the limits of both; and how priority/multifactor weighs jobs.
#pragma once

#include "slurm/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace noctule::slurm {

// Trackable resources by number: these, then the kinds of generic resources, then licences.
inline constexpr std::uint32_t tres_cpu = 0;
inline constexpr std::uint32_t tres_memory = 1; // in MB
inline constexpr std::uint32_t tres_node = 2;
inline constexpr std::uint32_t tres_billing = 3;
inline constexpr std::uint32_t first_gres_tres = 4;

struct TresLimit {
    std::uint32_t tres;
    std::uint64_t amount;
};
using TresLimits = std::vector<TresLimit>;
using Bound = std::optional<std::uint32_t>;

// Of an association or of a QOS.
struct LimitSet {
    TresLimits grp_tres = {};          // of all running jobs
    TresLimits grp_tres_mins = {};     // used ever, but for what decayed
    TresLimits grp_tres_run_mins = {}; // of running jobs until their limits
    TresLimits max_tres_per_job = {};
    TresLimits max_tres_per_node = {};
    TresLimits max_tres_mins_per_job = {};
    Bound grp_jobs = {}; // running
    Bound grp_jobs_accrue = {};
    Bound grp_submit_jobs = {}; // waiting or running
    Bound max_jobs = {};        // of an association
    Bound max_jobs_accrue = {};
    Bound max_submit_jobs = {};
    std::optional<Minutes> grp_wall = {};
    std::optional<Minutes> max_wall = {};
    std::uint32_t min_prio_threshold = 0;
};

// Of each user, or of each account, that uses a QOS.
struct ShareOfQos {
    TresLimits max_tres = {};
    Bound max_jobs = {};
    Bound max_submit_jobs = {};
    Bound max_jobs_accrue = {};
};

struct Qos {
    std::string name = {};
    std::uint32_t priority = 0;
    double usage_factor = 1.0;
    std::optional<double> usage_threshold = {}; // of fair share, to start
    std::optional<double> limit_factor = {};    // of the TRES limits of associations
    LimitSet limits = {};
    ShareOfQos per_user = {};
    ShareOfQos per_account = {};
    TresLimits min_tres = {};
    bool no_reserve = false;
    bool deny_on_limit = false;
    bool enforce_usage_threshold = false;
    bool no_decay = false;
    bool over_part_qos = false;
    bool usage_factor_safe = false;
    bool partition_time_limit = false; // its limit in place of the partition's
    bool partition_max_nodes = false;
    bool partition_min_nodes = false;

    std::vector<std::uint32_t> preempts = {}; // QOS that make way for it
    std::optional<PreemptMode> preempt_mode = {};
    bool preempts_within = false; // its own jobs, by priority
    Seconds grace_time = 0;
    std::optional<Seconds> preempt_exempt_time = {};
};

// An account, or a user in one.
struct Association {
    std::string name = {};
    std::uint32_t parent = none; // before it in the list; none: the root account
    bool is_user = false;
    std::optional<std::uint32_t> shares = 1; // none: those of the parent
    std::uint32_t priority = 0;
    LimitSet limits = {};
    double used = 0.0; // billed seconds when the run begins, those below included
};

struct Accounting {
    bool has_database = false; // slurmdbd: without it nothing ages, nothing is shared
    bool enforces_limits = false;
    bool enforces_safely = false;
    bool enforces_qos = false;
    std::vector<Association> associations = {}; // parents first
    std::vector<Qos> qos = {};
};

enum class UsageReset : std::uint8_t { never, now, daily, weekly, monthly, quarterly, yearly };

// Of priority/multifactor.
struct PriorityParameters {
    bool multifactor = false; // otherwise the rest says nothing
    double weight_age = 0;
    double weight_association = 0;
    double weight_fair_share = 0;
    double weight_job_size = 0;
    double weight_partition = 0;
    double weight_qos = 0;
    std::vector<double> weight_tres = {}; // by number; may be shorter
    Seconds max_age = 7 * 86400;
    Seconds decay_half_life = 7 * 86400; // 0: usage does not decay
    Seconds calc_period = 300;
    double first_calculation = 0.0; // a date; then every calc_period
    UsageReset usage_reset = UsageReset::never;
    double damping = 1.0; // FairShareDampeningFactor
    bool favor_small = false;

    // PriorityFlags
    bool accrue_always = false;
    bool calculate_running = false;
    bool depth_oblivious = false;
    bool fair_tree = true;
    bool incr_only = false;
    bool max_tres = false;
    bool no_normal_association = false;
    bool no_normal_partition = false;
    bool no_normal_qos = false;
    bool no_normal_tres = false;
    bool small_relative_to_time = false;

    // TRESBillingWeights by partition, then by TRES; none: the number of CPUs is billed.
    std::vector<std::vector<double>> billing_weights = {};
};

} // namespace noctule::slurm
