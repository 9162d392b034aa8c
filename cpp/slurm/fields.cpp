#include "slurm/fields.hpp"

#include "errors.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <type_traits>

namespace noctule::slurm {

namespace {

template <typename Owner, typename Number> struct Field {
    std::string_view name;
    void (*set)(Owner&, Number);
};

template <auto member> struct MemberOf;
template <typename Owner, typename Value, Value Owner::* member> struct MemberOf<member> {
    using OwnerType = Owner;
    using ValueType = Value;
};

template <auto member, typename Number>
constexpr Field<typename MemberOf<member>::OwnerType, Number> field(std::string_view name) {
    using Owner = typename MemberOf<member>::OwnerType;
    using Value = typename MemberOf<member>::ValueType;
    return {name, [](Owner& owner, Number number) {
                if constexpr (std::is_same_v<Value, bool>) {
                    owner.*member = number != 0;
                } else {
                    owner.*member = static_cast<Value>(number);
                }
            }};
}

template <typename Owner, typename Number>
void set_named(std::span<const Field<Owner, Number>> fields, Owner& owner, std::string_view what,
               std::string_view name, Number value) {
    const auto found = std::ranges::find(fields, name, &Field<Owner, Number>::name);
    if (found == fields.end()) {
        throw InputError("slurm: " + std::string(what) + " have no field '" + std::string(name) +
                         "'");
    }
    found->set(owner, value);
}

template <auto member> constexpr auto number(std::string_view name) {
    return field<member, double>(name);
}
template <auto member> constexpr auto whole(std::string_view name) {
    return field<member, std::int64_t>(name);
}

constexpr Field<Node, double> node_fields[] = {
    number<&Node::cpus>("cpus"),
    number<&Node::sockets>("sockets"),
    number<&Node::cores_per_socket>("cores_per_socket"),
    number<&Node::threads_per_core>("threads_per_core"),
    number<&Node::memory_mb>("memory_mb"),
    number<&Node::weight>("weight"),
    number<&Node::line>("line"),
    number<&Node::first_host>("first_host"),
    number<&Node::n_hosts>("n_hosts"),
    number<&Node::suspend_time>("suspend_time"),
    number<&Node::suspend_timeout>("suspend_timeout"),
    number<&Node::resume_timeout>("resume_timeout"),
};

constexpr Field<Partition, double> partition_fields[] = {
    number<&Partition::state>("state"),
    number<&Partition::priority_tier>("priority_tier"),
    number<&Partition::priority_job_factor>("priority_job_factor"),
    number<&Partition::max_time>("max_time"),
    number<&Partition::default_time>("default_time"),
    number<&Partition::min_nodes>("min_nodes"),
    number<&Partition::max_nodes>("max_nodes"),
    number<&Partition::max_cpus_per_node>("max_cpus_per_node"),
    number<&Partition::max_memory_per_node_mb>("max_memory_per_node_mb"),
    number<&Partition::default_memory_mb>("default_memory_mb"),
    number<&Partition::default_memory_is_per_cpu>("default_memory_is_per_cpu"),
    number<&Partition::oversubscribe>("oversubscribe"),
    number<&Partition::oversubscribe_jobs>("oversubscribe_jobs"),
    number<&Partition::exclusive_user>("exclusive_user"),
    number<&Partition::least_loaded_nodes>("least_loaded_nodes"),
    number<&Partition::preempt_mode>("preempt_mode"),
    number<&Partition::grace_time>("grace_time"),
    number<&Partition::over_time_limit>("over_time_limit"),
    number<&Partition::qos>("qos"),
};

constexpr Field<Parameters, double> parameter_fields[] = {
    number<&Parameters::backfills>("backfills"),
    number<&Parameters::default_queue_depth>("default_queue_depth"),
    number<&Parameters::partition_job_depth>("partition_job_depth"),
    number<&Parameters::sched_interval>("sched_interval"),
    number<&Parameters::sched_min_interval_us>("sched_min_interval_us"),
    number<&Parameters::sched_max_job_start>("sched_max_job_start"),
    number<&Parameters::max_sched_time>("max_sched_time"),
    number<&Parameters::batch_sched_delay>("batch_sched_delay"),
    number<&Parameters::defer>("defer"),
    number<&Parameters::assoc_limit_stop>("assoc_limit_stop"),
    number<&Parameters::reduce_completing_frag>("reduce_completing_frag"),
    number<&Parameters::bf_interval>("bf_interval"),
    number<&Parameters::bf_max_time>("bf_max_time"),
    number<&Parameters::bf_resolution>("bf_resolution"),
    number<&Parameters::bf_window>("bf_window"),
    number<&Parameters::bf_window_linear>("bf_window_linear"),
    number<&Parameters::bf_max_job_test>("bf_max_job_test"),
    number<&Parameters::bf_max_job_start>("bf_max_job_start"),
    number<&Parameters::bf_max_job_part>("bf_max_job_part"),
    number<&Parameters::bf_max_job_user>("bf_max_job_user"),
    number<&Parameters::bf_max_job_user_part>("bf_max_job_user_part"),
    number<&Parameters::bf_max_job_assoc>("bf_max_job_assoc"),
    number<&Parameters::bf_max_job_array_resv>("bf_max_job_array_resv"),
    number<&Parameters::bf_job_part_count_reserve>("bf_job_part_count_reserve"),
    number<&Parameters::bf_node_space_size>("bf_node_space_size"),
    number<&Parameters::bf_queue_limit>("bf_queue_limit"),
    number<&Parameters::bf_min_age_reserve>("bf_min_age_reserve"),
    number<&Parameters::bf_min_prio_reserve>("bf_min_prio_reserve"),
    number<&Parameters::bf_yield_interval_us>("bf_yield_interval_us"),
    number<&Parameters::bf_yield_sleep_us>("bf_yield_sleep_us"),
    number<&Parameters::bf_continue>("bf_continue"),
    number<&Parameters::bf_busy_nodes>("bf_busy_nodes"),
    number<&Parameters::bf_running_job_reserve>("bf_running_job_reserve"),
    number<&Parameters::bf_licenses>("bf_licenses"),
    number<&Parameters::bf_one_resv_per_job>("bf_one_resv_per_job"),
    number<&Parameters::bf_hetjob_immediate>("bf_hetjob_immediate"),
    number<&Parameters::bf_hetjob_prio>("bf_hetjob_prio"),
    number<&Parameters::over_time_limit>("over_time_limit"),
    number<&Parameters::kill_wait>("kill_wait"),
    number<&Parameters::complete_wait>("complete_wait"),
    number<&Parameters::has_epilog>("has_epilog"),
    number<&Parameters::kill_invalid_depend>("kill_invalid_depend"),
    number<&Parameters::enforce_part_limits>("enforce_part_limits"),
    number<&Parameters::suspend_rate>("suspend_rate"),
    number<&Parameters::resume_rate>("resume_rate"),
    number<&Parameters::late_nodes_return>("late_nodes_return"),
    number<&Parameters::boot_failures>("boot_failures"),
    number<&Parameters::boot_seed>("boot_seed"),
    number<&Parameters::repair_seconds>("repair_seconds"),
    number<&Parameters::requeue_delay>("requeue_delay"),
    number<&Parameters::preempt_type>("preempt_type"),
    number<&Parameters::preempt_mode>("preempt_mode"),
    number<&Parameters::preempt_youngest_first>("preempt_youngest_first"),
    number<&Parameters::preempt_strict_order>("preempt_strict_order"),
    number<&Parameters::preempt_reorder_count>("preempt_reorder_count"),
    number<&Parameters::preempt_exempt_time>("preempt_exempt_time"),
    number<&Parameters::min_exempt_priority>("min_exempt_priority"),
    number<&Parameters::preempts_within>("preempts_within"),
    number<&Parameters::gang>("gang"),
    number<&Parameters::time_slice>("time_slice"),
    number<&Parameters::message_timeout>("message_timeout"),
};

constexpr Field<SelectParameters, double> select_fields[] = {
    number<&SelectParameters::type>("type"),
    number<&SelectParameters::unit>("unit"),
    number<&SelectParameters::memory>("memory"),
    number<&SelectParameters::pack_nodes>("pack_nodes"),
    number<&SelectParameters::least_loaded_nodes>("least_loaded_nodes"),
    number<&SelectParameters::one_task_per_core>("one_task_per_core"),
    number<&SelectParameters::core_default_block>("core_default_block"),
    number<&SelectParameters::pack_serial_at_end>("pack_serial_at_end"),
};

constexpr Field<CostModel, double> cost_fields[] = {
    number<&CostModel::main_pass>("main_pass"),
    number<&CostModel::main_test>("main_test"),
    number<&CostModel::backfill_pass>("backfill_pass"),
    number<&CostModel::backfill_test>("backfill_test"),
    number<&CostModel::prediction_step>("prediction_step"),
    number<&CostModel::reservation_record>("reservation_record"),
};

constexpr Field<Request, std::int64_t> request_fields[] = {
    whole<&Request::min_nodes>("min_nodes"),
    whole<&Request::max_nodes>("max_nodes"),
    whole<&Request::tasks>("tasks"),
    whole<&Request::cpus_per_task>("cpus_per_task"),
    whole<&Request::tasks_per_node>("tasks_per_node"),
    whole<&Request::min_cpus>("min_cpus"),
    whole<&Request::memory_mb>("memory_mb"),
    whole<&Request::memory_is_per_cpu>("memory_is_per_cpu"),
    whole<&Request::all_memory>("all_memory"),
    whole<&Request::exclusive>("exclusive"),
    whole<&Request::exclusive_user>("exclusive_user"),
    whole<&Request::contiguous>("contiguous"),
    whole<&Request::one_switch>("one_switch"),
    whole<&Request::switch_wait>("switch_wait"),
    whole<&Request::oversubscribe>("oversubscribe"),
    whole<&Request::constraint>("constraint"),
    whole<&Request::limit>("limit"),
    whole<&Request::time_min>("time_min"),
    whole<&Request::begin>("begin"),
    whole<&Request::deadline>("deadline"),
    whole<&Request::nice>("nice"),
    whole<&Request::priority>("priority"),
    whole<&Request::held>("held"),
    whole<&Request::release>("release"),
    whole<&Request::user>("user"),
    whole<&Request::association>("association"),
    whole<&Request::qos>("qos"),
    whole<&Request::reservation>("reservation"),
    whole<&Request::name>("name"),
    whole<&Request::array>("array"),
    whole<&Request::array_task>("array_task"),
    whole<&Request::array_throttle>("array_throttle"),
    whole<&Request::het>("het"),
    whole<&Request::any_dependency>("any_dependency"),
    whole<&Request::started>("started"),
    whole<&Request::suspended>("suspended"),
    whole<&Request::fails>("fails"),
    whole<&Request::requeue>("requeue"),
    whole<&Request::ignores_term>("ignores_term"),
};

constexpr Field<Drive, double> drive_fields[] = {
    number<&Drive::mode>("mode"),
    number<&Drive::first_tick>("first_tick"),
    number<&Drive::tick_period>("tick_period"),
    number<&Drive::first_backfill>("first_backfill"),
    number<&Drive::first_full>("first_full"),
    number<&Drive::first_limit_check>("first_limit_check"),
    number<&Drive::backfill_overhead>("backfill_overhead"),
    number<&Drive::kill_latency>("kill_latency"),
    number<&Drive::enforces_limits>("enforces_limits"),
};

} // namespace

void set_field(Node& node, std::string_view name, double value) {
    set_named<Node, double>(node_fields, node, "nodes", name, value);
}

void set_field(Partition& partition, std::string_view name, double value) {
    set_named<Partition, double>(partition_fields, partition, "partitions", name, value);
}

void set_field(Parameters& parameters, std::string_view name, double value) {
    constexpr std::string_view select = "select.";
    constexpr std::string_view cost = "cost.";
    if (name.starts_with(select)) {
        set_named<SelectParameters, double>(select_fields, parameters.select, "select parameters",
                                            name.substr(select.size()), value);
    } else if (name.starts_with(cost)) {
        set_named<CostModel, double>(cost_fields, parameters.cost, "costs",
                                     name.substr(cost.size()), value);
    } else {
        set_named<Parameters, double>(parameter_fields, parameters, "parameters", name, value);
    }
}

void set_field(Request& request, std::string_view name, std::int64_t value) {
    set_named<Request, std::int64_t>(request_fields, request, "requests", name, value);
}

void set_field(Drive& drive, std::string_view name, double value) {
    set_named<Drive, double>(drive_fields, drive, "clocks", name, value);
}

} // namespace noctule::slurm
