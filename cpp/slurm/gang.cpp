#include "slurm/gang.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace noctule::slurm {

Gang::Gang(const Settings& settings, const Requests& requests)
    : settings_(settings), requests_(requests), qos_ranks_(qos_ranks(settings.accounting.qos)) {
    for (const Node& node : settings.nodes) {
        n_hosts_ = std::max(n_hosts_, node.first_host + node.n_hosts);
    }
}

std::uint32_t Gang::rank(JobIndex job, std::uint32_t partition) const {
    if (settings_.parameters.preempt_type == PreemptType::qos) {
        const std::uint32_t qos = requests_[job].qos;
        return qos == none ? 0 : qos_ranks_[qos];
    }
    return std::numeric_limits<std::uint32_t>::max() -
           settings_.partitions[partition].priority_tier;
}

Gang::Changes Gang::add(JobIndex job, std::uint32_t partition, const HostSet& hosts) {
    Member member{job, partition, rank(job, partition), NodeSet(n_hosts_), true, false};
    for (const Interval& run : hosts.intervals()) {
        member.hosts.add(NodeRun{run.first, static_cast<std::uint32_t>(run.size())});
    }
    members_.push_back(std::move(member));
    return settle();
}

Gang::Changes Gang::remove(JobIndex job) {
    std::erase_if(members_, [&](const Member& member) { return member.job == job; });
    return settle();
}

Gang::Changes Gang::slice() {
    std::ranges::stable_partition(members_, [](const Member& member) { return !member.has_turn; });
    for (Member& member : members_) {
        member.has_turn = false;
    }
    return settle();
}

bool Gang::has_waiting() const {
    return std::ranges::any_of(members_, [](const Member& member) { return !member.has_turn; });
}

// Those who had a turn keep it if they can, then others get one.
Gang::Changes Gang::settle() {
    std::set<std::uint32_t> ranks;
    for (const Member& member : members_) {
        ranks.insert(member.rank);
    }
    NodeSet taken(n_hosts_); // by higher ranks
    for (const std::uint32_t rank : ranks) {
        std::map<std::uint32_t, NodeSet> rows; // in use, by partition
        for (const bool had_turn : {true, false}) {
            for (Member& member : members_) {
                if (member.rank != rank || member.has_turn != had_turn) {
                    continue;
                }
                NodeSet& row = rows.try_emplace(member.partition, taken).first->second;
                member.has_turn = !member.hosts.intersects(row);
                if (member.has_turn) {
                    row |= member.hosts;
                }
            }
        }
        for (const auto& [partition, row] : rows) {
            taken |= row;
        }
    }
    Changes changes;
    for (Member& member : members_) {
        if (member.has_turn != member.runs) {
            (member.has_turn ? changes.go : changes.stop).push_back(member.job);
            member.runs = member.has_turn;
        }
    }
    return changes;
}

} // namespace noctule::slurm
