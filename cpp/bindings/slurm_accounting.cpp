// What a site's accounting says, as the model of Slurm takes it: structures with their fields.
#include "bindings/bindings.hpp"

#include "slurm/accounting.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace noctule {

using namespace slurm;

namespace {

void bind_limits(nb::module_& module) {
    nb::class_<TresLimit>(module, "SlurmTresLimit", "An amount of a trackable resource.")
        .def(nb::init<std::uint32_t, std::uint64_t>(), nb::arg("tres"), nb::arg("amount"))
        .def_ro("tres", &TresLimit::tres)
        .def_ro("amount", &TresLimit::amount);
    nb::class_<LimitSet>(module, "SlurmLimitSet", "Limits of an association or a QOS.")
        .def(nb::init<>())
        .def_rw("grp_tres", &LimitSet::grp_tres)
        .def_rw("grp_tres_mins", &LimitSet::grp_tres_mins)
        .def_rw("grp_tres_run_mins", &LimitSet::grp_tres_run_mins)
        .def_rw("max_tres_per_job", &LimitSet::max_tres_per_job)
        .def_rw("max_tres_per_node", &LimitSet::max_tres_per_node)
        .def_rw("max_tres_mins_per_job", &LimitSet::max_tres_mins_per_job)
        .def_rw("grp_jobs", &LimitSet::grp_jobs)
        .def_rw("grp_jobs_accrue", &LimitSet::grp_jobs_accrue)
        .def_rw("grp_submit_jobs", &LimitSet::grp_submit_jobs)
        .def_rw("max_jobs", &LimitSet::max_jobs)
        .def_rw("max_jobs_accrue", &LimitSet::max_jobs_accrue)
        .def_rw("max_submit_jobs", &LimitSet::max_submit_jobs)
        .def_rw("grp_wall", &LimitSet::grp_wall)
        .def_rw("max_wall", &LimitSet::max_wall)
        .def_rw("min_prio_threshold", &LimitSet::min_prio_threshold);
    nb::class_<ShareOfQos>(module, "SlurmShareOfQos", "Limits of each user or account in a QOS.")
        .def(nb::init<>())
        .def_rw("max_tres", &ShareOfQos::max_tres)
        .def_rw("max_jobs", &ShareOfQos::max_jobs)
        .def_rw("max_submit_jobs", &ShareOfQos::max_submit_jobs)
        .def_rw("max_jobs_accrue", &ShareOfQos::max_jobs_accrue);
}

void bind_accounts(nb::module_& module) {
    nb::class_<Qos>(module, "SlurmQos", "A quality of service.")
        .def(nb::init<>())
        .def_rw("name", &Qos::name)
        .def_rw("priority", &Qos::priority)
        .def_rw("usage_factor", &Qos::usage_factor)
        .def_rw("usage_threshold", &Qos::usage_threshold)
        .def_rw("limit_factor", &Qos::limit_factor)
        .def_rw("limits", &Qos::limits)
        .def_rw("per_user", &Qos::per_user)
        .def_rw("per_account", &Qos::per_account)
        .def_rw("min_tres", &Qos::min_tres)
        .def_rw("no_reserve", &Qos::no_reserve)
        .def_rw("deny_on_limit", &Qos::deny_on_limit)
        .def_rw("enforce_usage_threshold", &Qos::enforce_usage_threshold)
        .def_rw("no_decay", &Qos::no_decay)
        .def_rw("over_part_qos", &Qos::over_part_qos)
        .def_rw("usage_factor_safe", &Qos::usage_factor_safe)
        .def_rw("preempts", &Qos::preempts)
        .def_rw("preempts_within", &Qos::preempts_within)
        .def_rw("grace_time", &Qos::grace_time)
        .def_rw("preempt_exempt_time", &Qos::preempt_exempt_time, nb::arg().none())
        .def(
            "set_preempt_mode",
            [](Qos& qos, int mode) { qos.preempt_mode = static_cast<PreemptMode>(mode); },
            nb::arg("mode"), "Say what happens to its jobs, if not what the cluster says.");
    nb::class_<Association>(module, "SlurmAssociation", "An account, or a user in one.")
        .def(nb::init<>())
        .def_rw("name", &Association::name)
        .def_rw("parent", &Association::parent)
        .def_rw("is_user", &Association::is_user)
        .def_rw("shares", &Association::shares, nb::arg().none())
        .def_rw("priority", &Association::priority)
        .def_rw("limits", &Association::limits)
        .def_rw("used", &Association::used);
    nb::class_<Accounting>(module, "SlurmAccounting", "Accounts, QOS, and what is enforced.")
        .def(nb::init<>())
        .def_rw("has_database", &Accounting::has_database)
        .def_rw("enforces_limits", &Accounting::enforces_limits)
        .def_rw("enforces_safely", &Accounting::enforces_safely)
        .def_rw("associations", &Accounting::associations)
        .def_rw("qos", &Accounting::qos);
}

void bind_priority(nb::module_& module) {
    using Priority = PriorityParameters;
    nb::enum_<UsageReset>(module, "SlurmUsageReset", "When usage becomes 0.")
        .value("never", UsageReset::never)
        .value("now", UsageReset::now)
        .value("daily", UsageReset::daily)
        .value("weekly", UsageReset::weekly)
        .value("monthly", UsageReset::monthly)
        .value("quarterly", UsageReset::quarterly)
        .value("yearly", UsageReset::yearly);
    nb::class_<Priority>(module, "SlurmPriority", "How priority/multifactor weighs jobs.")
        .def(nb::init<>())
        .def_rw("multifactor", &Priority::multifactor)
        .def_rw("weight_age", &Priority::weight_age)
        .def_rw("weight_association", &Priority::weight_association)
        .def_rw("weight_fair_share", &Priority::weight_fair_share)
        .def_rw("weight_job_size", &Priority::weight_job_size)
        .def_rw("weight_partition", &Priority::weight_partition)
        .def_rw("weight_qos", &Priority::weight_qos)
        .def_rw("weight_tres", &Priority::weight_tres)
        .def_rw("max_age", &Priority::max_age)
        .def_rw("decay_half_life", &Priority::decay_half_life)
        .def_rw("calc_period", &Priority::calc_period)
        .def_rw("first_calculation", &Priority::first_calculation)
        .def_rw("usage_reset", &Priority::usage_reset)
        .def_rw("damping", &Priority::damping)
        .def_rw("favor_small", &Priority::favor_small)
        .def_rw("accrue_always", &Priority::accrue_always)
        .def_rw("calculate_running", &Priority::calculate_running)
        .def_rw("depth_oblivious", &Priority::depth_oblivious)
        .def_rw("fair_tree", &Priority::fair_tree)
        .def_rw("incr_only", &Priority::incr_only)
        .def_rw("max_tres", &Priority::max_tres)
        .def_rw("no_normal_association", &Priority::no_normal_association)
        .def_rw("no_normal_partition", &Priority::no_normal_partition)
        .def_rw("no_normal_qos", &Priority::no_normal_qos)
        .def_rw("no_normal_tres", &Priority::no_normal_tres)
        .def_rw("small_relative_to_time", &Priority::small_relative_to_time)
        .def_rw("billing_weights", &Priority::billing_weights);
}

} // namespace

void bind_slurm_accounting(nb::module_& module) {
    bind_limits(module);
    bind_accounts(module);
    bind_priority(module);
}

} // namespace noctule
