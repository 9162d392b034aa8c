#include "slurm/reasons.hpp"

#include <algorithm>
#include <ranges>

namespace noctule::slurm {

namespace {

bool is_main(PassKind kind) { return kind != PassKind::backfill; }

} // namespace

void ReasonLog::enter(JobIndex job, Reason reason, std::string_view detail) {
    std::uint32_t number = 0;
    if (!detail.empty()) {
        const auto [at, is_new] = numbers_.try_emplace(std::string(detail), details_.size());
        if (is_new) {
            details_.emplace_back(detail);
        }
        number = at->second;
    }
    in_pass_.insert_or_assign(key(job), Judgement{reason, number});
}

void ReasonLog::end_pass(double time, PassKind kind) {
    for (const auto& [job, judgement] : in_pass_) {
        std::vector<ReasonChange>& changes = changes_[job];
        const auto alike = [&](const ReasonChange& one) {
            return is_main(one.kind) == is_main(kind);
        };
        const auto before = std::ranges::find_if(changes | std::views::reverse, alike);
        if (before == changes.rend() || Judgement{before->reason, before->detail} != judgement) {
            changes.push_back({time, kind, judgement.reason, judgement.detail});
        }
    }
    in_pass_.clear();
}

std::vector<ReasonChange> ReasonLog::changes(JobIndex job) const {
    const auto found = changes_.find(key(job));
    return found == changes_.end() ? std::vector<ReasonChange>{} : found->second;
}

} // namespace noctule::slurm
