// Cores that several jobs are given: those of jobs that will be suspended, and those of other rows.
#include "slurm/select_cons.hpp"

#include "slurm/select_needs.hpp"

#include <algorithm>

namespace noctule::slurm {

// Jobs that share cores and jobs that do not keep to nodes of their own; the latter may be beside
// sharing ones of their own partition.
void SelectCons::keep_unmixed(const Needs& needs, const Trial& trial, NodeSet& among) const {
    for (const auto& [job, running] : running_) {
        const Holdings& held = running.holdings;
        const bool apart = needs.shares
                               ? !held.shares
                               : held.shares && held.partition != needs.partition &&
                                     settings_.partitions[held.partition].oversubscribe_jobs > 1;
        if (apart && std::ranges::find(trial.gone, job) == trial.gone.end()) {
            among -= running.nodes;
        }
    }
}

std::uint32_t SelectCons::n_rows(const Needs& needs) const {
    return needs.shares ? settings_.partitions[needs.partition].oversubscribe_jobs : 1;
}

std::optional<SelectCons::Place> SelectCons::place(const NodeBook& book, const Needs& needs,
                                                   const Trial& trial, const NodeSet& among) {
    if (!shares_cores_) {
        auto shares = choose(book, needs, among, false);
        return shares ? std::optional(Place{std::move(*shares), &book}) : std::nullopt;
    }
    NodeSet unmixed = among;
    keep_unmixed(needs, trial, unmixed);
    if (auto shares = choose(book, needs, unmixed, false)) {
        return Place{std::move(*shares), &book};
    }
    if (needs.demand.whole_nodes) {
        return std::nullopt;
    }
    const auto is_named = [](std::span<const JobIndex> jobs, JobIndex job) {
        return std::ranges::find(jobs, job) != jobs.end();
    };
    const auto try_row = [&](auto&& is_in_the_way) {
        row_ = book;
        row_.free_all_cores();
        for (const auto& [job, running] : running_) {
            if (!is_named(trial.gone, job) && !is_named(trial.over, job) &&
                is_in_the_way(running.holdings)) {
                row_.block_cores(running.holdings);
            }
        }
        return choose(row_, needs, unmixed, false);
    };
    if (!trial.over.empty()) {
        if (auto shares = try_row([](const Holdings&) { return true; })) {
            return Place{std::move(*shares), &row_};
        }
    }
    for (std::uint32_t row = 0; n_rows(needs) > 1 && row < n_rows(needs); ++row) {
        const auto is_in_the_way = [&](const Holdings& held) {
            return held.partition != needs.partition || held.row == row;
        };
        if (auto shares = try_row(is_in_the_way)) {
            return Place{std::move(*shares), &row_, row};
        }
    }
    return std::nullopt;
}

} // namespace noctule::slurm
