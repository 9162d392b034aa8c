#include "slurm/backfill.hpp"
#include "slurm/tres.hpp"

namespace noctule::slurm {

std::uint32_t Backfill::cpus_of(const NodeSet& nodes) const {
    std::uint32_t cpus = 0;
    nodes.for_each([&](NodeIndex node) { cpus += controller_.settings().nodes[node].cpus; });
    return cpus;
}

// Whether a limit holds a job back that could have these nodes later: what counts is now.
bool Backfill::is_over_limit(const Moment& moment, const Attempt& attempt, const NodeSet& nodes) {
    Limits& limits = controller_.limits();
    if (limits.are_none()) {
        return false;
    }
    const bool whole = controller_.parameters().select.type == SelectType::linear;
    const Choice choice{.nodes = nodes,
                        .hosts = {},
                        .cpus = whole ? cpus_of(nodes) : requested_cpus(attempt.request)};
    if (limits.allows(attempt.job, attempt.record.partition, choice, moment.now)) {
        return false;
    }
    controller_.note_limit(attempt.job);
    return true;
}

} // namespace noctule::slurm
