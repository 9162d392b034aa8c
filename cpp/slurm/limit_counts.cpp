#include "slurm/limit_counts.hpp"

namespace noctule::slurm {

LimitCounts::LimitCounts(const Accounting& accounting, std::uint32_t n_tres)
    : accounting_(accounting), nothing_{.tres = Tres(n_tres, 0.0)},
      associations_(accounting.associations.size(), nothing_),
      qos_(accounting.qos.size(), nothing_) {}

void LimitCounts::change(const Owner& owner, int submitted, int running,
                         std::span<const double> tres) {
    const auto apply = [&](Count& count) {
        count.submitted += static_cast<std::uint32_t>(submitted);
        count.running += static_cast<std::uint32_t>(running);
        for (std::size_t k = 0; k < tres.size(); ++k) {
            count.tres[k] += running * tres[k];
        }
    };
    for (std::uint32_t i = owner.association; i != none; i = accounting_.associations[i].parent) {
        apply(associations_[i]);
    }
    for (const std::uint32_t qos : owner.qos) {
        apply(qos_[qos]);
        apply(users_.try_emplace({qos, owner.user}, nothing_).first->second);
        apply(accounts_.try_emplace({qos, account_of(owner.association)}, nothing_).first->second);
    }
}

} // namespace noctule::slurm
