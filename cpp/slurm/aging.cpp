#include "slurm/aging.hpp"

#include <algorithm>

namespace noctule::slurm {

bool AgingJobs::are_bounded(const Accounting& accounting) {
    const auto has_bound = [](const LimitSet& limits) {
        return limits.grp_jobs_accrue || limits.max_jobs_accrue;
    };
    return std::ranges::any_of(accounting.qos,
                               [&](const Qos& qos) {
                                   return has_bound(qos.limits) || qos.per_user.max_jobs_accrue ||
                                          qos.per_account.max_jobs_accrue;
                               }) ||
           std::ranges::any_of(accounting.associations, [&](const Association& association) {
               return has_bound(association.limits);
           });
}

void AgingJobs::add(const Request& request) {
    for (std::uint32_t i = request.association; i != none; i = accounting_.associations[i].parent) {
        ++by_association_[{i, 0}];
    }
    if (request.qos != none) {
        ++by_qos_[{request.qos, 0}];
        ++by_qos_and_user_[{request.qos, request.user}];
        ++by_qos_and_account_[{request.qos, account_of(request)}];
    }
}

bool AgingJobs::has_room_for(const Request& request) const {
    if (request.qos != none) {
        const Qos& qos = accounting_.qos[request.qos];
        if (is_full(qos.limits.grp_jobs_accrue, by_qos_, request.qos) ||
            is_full(qos.per_user.max_jobs_accrue, by_qos_and_user_, request.qos, request.user) ||
            is_full(qos.per_account.max_jobs_accrue, by_qos_and_account_, request.qos,
                    account_of(request))) {
            return false;
        }
    }
    for (std::uint32_t i = request.association; i != none; i = accounting_.associations[i].parent) {
        const LimitSet& limits = accounting_.associations[i].limits;
        if (is_full(limits.grp_jobs_accrue, by_association_, i) ||
            (i == request.association && is_full(limits.max_jobs_accrue, by_association_, i))) {
            return false;
        }
    }
    return true;
}

} // namespace noctule::slurm
