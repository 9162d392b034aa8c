// The limits of a job one by one, in Slurm's order.
#include "slurm/account_limits.hpp"

#include <algorithm>

namespace noctule::slurm {

namespace {

constexpr auto above = LimitCheck::Breaks::above;
constexpr auto below = LimitCheck::Breaks::below;
constexpr auto reaching = LimitCheck::Breaks::reaching;

} // namespace

void AccountLimits::check_submission(LimitCheck& check, const Case& one) const {
    for (const std::uint32_t i : one.owner.qos) {
        const Qos& qos = accounting_.qos[i];
        check.enter_qos(qos.name);
        check.bound(LimitRule::grp_submit_jobs, qos.limits.grp_submit_jobs,
                    [&] { return counts_.of_qos(i).submitted + 1.0; });
        check.bound(LimitRule::max_submit_jobs_per_account, qos.per_account.max_submit_jobs,
                    [&] { return counts_.of_account(i, one.owner.association).submitted + 1.0; });
        check.bound(LimitRule::max_submit_jobs_per_user, qos.per_user.max_submit_jobs,
                    [&] { return counts_.of_user(i, one.owner.user).submitted + 1.0; });
    }
    for (std::uint32_t i = one.owner.association; i != none;
         i = accounting_.associations[i].parent) {
        const Association& association = accounting_.associations[i];
        check.enter_association(association.name);
        const auto submitted = [&] { return counts_.of_association(i).submitted + 1.0; };
        check.bound(LimitRule::grp_submit_jobs, association.limits.grp_submit_jobs, submitted);
        if (i == one.owner.association) {
            check.bound(LimitRule::max_submit_jobs,
                        nearest(i, &LimitSet::max_submit_jobs).max_submit_jobs, submitted);
        }
    }
}

void AccountLimits::check_before_nodes(LimitCheck& check, const Case& one) const {
    const auto limit = [&] { return static_cast<double>(one.request.limit); };
    for (const std::uint32_t i : one.owner.qos) {
        const Qos& qos = accounting_.qos[i];
        check.enter_qos(qos.name);
        check.bound(LimitRule::grp_jobs, qos.limits.grp_jobs,
                    [&] { return counts_.of_qos(i).running + 1.0; });
        check.bound(LimitRule::max_jobs_per_account, qos.per_account.max_jobs,
                    [&] { return counts_.of_account(i, one.owner.association).running + 1.0; });
        check.bound(LimitRule::max_jobs_per_user, qos.per_user.max_jobs,
                    [&] { return counts_.of_user(i, one.owner.user).running + 1.0; });
        check.bound(LimitRule::max_wall, qos.limits.max_wall, limit);
        if (multifactor_ != nullptr) {
            check.bound(
                LimitRule::grp_wall, qos.limits.grp_wall,
                [&] { return multifactor_->usage().qos_wall_seconds(i) / 60; }, reaching);
            check.bound(
                LimitRule::grp_tres_mins, qos.limits.grp_tres_mins,
                [&](auto tres) { return multifactor_->usage().qos_tres_seconds(i, tres) / 60; },
                reaching);
            if (qos.enforce_usage_threshold && one.owner.association != none) {
                check.bound(
                    LimitRule::usage_threshold, qos.usage_threshold,
                    [&] { return multifactor_->fair_share(one.owner.association); }, below);
            }
        }
    }
    for (std::uint32_t i = one.owner.association; i != none;
         i = accounting_.associations[i].parent) {
        const Association& association = accounting_.associations[i];
        check.enter_association(association.name);
        const auto running = [&] { return counts_.of_association(i).running + 1.0; };
        check.bound(LimitRule::grp_jobs, association.limits.grp_jobs, running);
        if (multifactor_ != nullptr) {
            check.bound(
                LimitRule::grp_wall, association.limits.grp_wall,
                [&] { return multifactor_->usage().wall_seconds(i) / 60; }, reaching);
            check.bound(
                LimitRule::grp_tres_mins, association.limits.grp_tres_mins,
                [&](auto tres) { return multifactor_->usage().tres_seconds(i, tres) / 60; },
                reaching);
        }
        if (i == one.owner.association) {
            check.bound(LimitRule::max_jobs, nearest(i, &LimitSet::max_jobs).max_jobs, running);
            check.bound(LimitRule::max_wall, nearest(i, &LimitSet::max_wall).max_wall, limit);
        }
    }
}

// The largest part that one of the nodes has.
double AccountLimits::most_on_a_node(const Case& one, const Choice& choice,
                                     std::uint32_t tres) const {
    const Holdings& held = choice.shares;
    const std::size_t n_kinds = settings_.gres_kinds.size();
    double most = 0;
    for (std::size_t i = 0; i < held.nodes.size(); ++i) {
        if (tres == tres_cpu) {
            most = std::max(most, static_cast<double>(held.nodes[i].cpus));
        } else if (tres == tres_memory) {
            most = std::max(most, static_cast<double>(held.nodes[i].memory_mb));
        } else if (tres >= first_gres_tres && tres < first_gres_tres + n_kinds &&
                   !held.gres.empty()) {
            most = std::max(most,
                            static_cast<double>(held.gres[i * n_kinds + tres - first_gres_tres]));
        }
    }
    return held.nodes.empty() ? one.tres[tres] / std::max(1.0, one.tres[tres_node]) : most;
}

void AccountLimits::check_job(LimitCheck& check, const Case& one, const Choice& choice,
                              const LimitSet& per_job, const LimitSet& per_node,
                              const LimitSet& mins_per_job) const {
    check.bound(LimitRule::max_tres_per_job, per_job.max_tres_per_job,
                [&](auto tres) { return one.tres[tres]; });
    check.bound(LimitRule::max_tres_per_node, per_node.max_tres_per_node,
                [&](auto tres) { return most_on_a_node(one, choice, tres); });
    check.bound(LimitRule::max_tres_mins_per_job, mins_per_job.max_tres_mins_per_job,
                [&](auto tres) { return one.tres[tres] * one.minutes; });
}

void AccountLimits::check_qos_with_nodes(LimitCheck& check, const Case& one, const Choice& choice,
                                         std::uint32_t i) const {
    const Qos& qos = accounting_.qos[i];
    check.enter_qos(qos.name);
    const auto with_job = [&one](const Count& count) {
        return
            [&one, &used = count.tres](std::uint32_t tres) { return used[tres] + one.tres[tres]; };
    };
    const auto to_run = [&](std::uint32_t tres) {
        return left_to_run(one, tres, none, i) + one.tres[tres] * one.minutes;
    };
    check.bound(LimitRule::grp_tres, qos.limits.grp_tres, with_job(counts_.of_qos(i)));
    check.bound(LimitRule::grp_tres_run_mins, qos.limits.grp_tres_run_mins, to_run);
    if (accounting_.enforces_safely && multifactor_ != nullptr) {
        check.bound(LimitRule::grp_tres_mins, qos.limits.grp_tres_mins, [&](auto tres) {
            return multifactor_->usage().qos_tres_seconds(i, tres) / 60 + to_run(tres);
        });
    }
    check_job(check, one, choice, qos.limits, qos.limits, qos.limits);
    check.bound(LimitRule::max_tres_per_account, qos.per_account.max_tres,
                with_job(counts_.of_account(i, one.owner.association)));
    check.bound(LimitRule::max_tres_per_user, qos.per_user.max_tres,
                with_job(counts_.of_user(i, one.owner.user)));
    check.bound(
        LimitRule::min_tres, qos.min_tres, [&](auto tres) { return one.tres[tres]; }, below);
}

void AccountLimits::check_with_nodes(LimitCheck& check, const Case& one,
                                     const Choice& choice) const {
    for (const std::uint32_t i : one.owner.qos) {
        check_qos_with_nodes(check, one, choice, i);
    }
    const double factor =
        one.request.qos == none ? 1.0 : accounting_.qos[one.request.qos].limit_factor.value_or(1.0);
    for (std::uint32_t i = one.owner.association; i != none;
         i = accounting_.associations[i].parent) {
        const Association& association = accounting_.associations[i];
        const LimitSet& limits = association.limits;
        check.enter_association(association.name);
        const auto with_job = [&](std::uint32_t tres) {
            return counts_.of_association(i).tres[tres] + one.tres[tres];
        };
        const auto to_run = [&](std::uint32_t tres) {
            return left_to_run(one, tres, i, none) + one.tres[tres] * one.minutes;
        };
        check.bound(LimitRule::grp_tres, limits.grp_tres, with_job, above, factor);
        check.bound(LimitRule::grp_tres_run_mins, limits.grp_tres_run_mins, to_run, above, factor);
        if (accounting_.enforces_safely && multifactor_ != nullptr) {
            const auto ever = [&](std::uint32_t tres) {
                return multifactor_->usage().tres_seconds(i, tres) / 60 + to_run(tres);
            };
            check.bound(LimitRule::grp_tres_mins, limits.grp_tres_mins, ever, above, factor);
        }
        if (i == one.owner.association) {
            check_job(check, one, choice, nearest(i, &LimitSet::max_tres_per_job),
                      nearest(i, &LimitSet::max_tres_per_node),
                      nearest(i, &LimitSet::max_tres_mins_per_job));
        }
    }
}

// What would be too much even if nothing else ran.
void AccountLimits::check_alone(LimitCheck& check, const Case& one) const {
    const auto job = [&](std::uint32_t tres) { return one.tres[tres]; };
    for (const std::uint32_t i : one.owner.qos) {
        const Qos& qos = accounting_.qos[i];
        check.enter_qos(qos.name);
        check.bound(LimitRule::max_wall, qos.limits.max_wall,
                    [&] { return static_cast<double>(one.request.limit); });
        check.bound(LimitRule::grp_tres, qos.limits.grp_tres, job);
        check.bound(LimitRule::max_tres_per_job, qos.limits.max_tres_per_job, job);
        check.bound(LimitRule::max_tres_mins_per_job, qos.limits.max_tres_mins_per_job,
                    [&](auto tres) { return one.tres[tres] * one.minutes; });
        check.bound(LimitRule::max_tres_per_user, qos.per_user.max_tres, job);
        check.bound(LimitRule::max_tres_per_account, qos.per_account.max_tres, job);
        check.bound(LimitRule::min_tres, qos.min_tres, job, below);
    }
}

} // namespace noctule::slurm
