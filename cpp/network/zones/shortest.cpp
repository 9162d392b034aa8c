#include "network/zones.hpp"

#include <algorithm>
#include <functional>
#include <queue>

namespace noctule {

namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

} // namespace

void ShortestPaths::prepare(MemberIndex n_members) {
    n_members_ = n_members;
    if (algorithm_ == Algorithm::floyd) {
        return;
    }
    node_of_.assign(n_members, nowhere);
    const auto node = [&](MemberIndex rank) {
        if (node_of_[rank] == nowhere) {
            node_of_[rank] = static_cast<std::uint32_t>(rank_of_.size());
            rank_of_.push_back(rank);
            edges_.emplace_back();
        }
        return node_of_[rank];
    };
    for (const DeclaredRoutes::Entry& entry : declared.entries()) {
        const std::uint32_t from = node(entry.from);
        const std::uint32_t to = node(entry.to);
        edges_[from].push_back({to, entry.n_links});
    }
}

std::vector<const DeclaredRoutes::Entry*> ShortestPaths::path(MemberIndex from, MemberIndex to,
                                                              Predecessors& memory,
                                                              std::uint32_t key) const {
    if (algorithm_ == Algorithm::floyd) {
        return floyd_path(from, to);
    }
    const std::uint32_t source = node_of_[from];
    const std::uint32_t target = node_of_[to];
    if (source == nowhere || target == nowhere) {
        return {};
    }
    const std::uint64_t place = std::uint64_t(key) << 32 | from;
    auto found = memory.find(place);
    if (found == memory.end()) {
        if (algorithm_ == Algorithm::dijkstra) {
            memory.clear(); // it keeps the last one only
        }
        found = memory.emplace(place, dijkstra(source)).first;
    }
    std::vector<const DeclaredRoutes::Entry*> entries;
    for (std::uint32_t at = target; at != source;) {
        const std::uint32_t before = found->second[at];
        if (before == nowhere) {
            return {};
        }
        entries.push_back(declared.find(rank_of_[before], rank_of_[at]));
        at = before;
    }
    std::reverse(entries.begin(), entries.end());
    return entries;
}

std::vector<std::uint32_t> ShortestPaths::dijkstra(std::uint32_t source) const {
    std::vector<std::uint32_t> predecessors(edges_.size(), nowhere);
    std::vector<std::uint64_t> costs(edges_.size(), std::numeric_limits<std::uint64_t>::max());
    using Waiting = std::pair<std::uint64_t, std::uint32_t>; // of equal costs the lower node first
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> queue;
    costs[source] = 0;
    queue.emplace(0, source);
    while (!queue.empty()) {
        const auto [cost, node] = queue.top();
        queue.pop();
        if (cost != costs[node]) {
            continue;
        }
        for (const Edge& edge : edges_[node]) {
            if (cost + edge.cost < costs[edge.to]) {
                costs[edge.to] = cost + edge.cost;
                predecessors[edge.to] = node;
                queue.emplace(costs[edge.to], edge.to);
            }
        }
    }
    return predecessors;
}

void ShortestPaths::fill_table() const {
    const std::size_t n = n_members_;
    std::vector<std::uint32_t> costs(n * n, nowhere);
    std::vector<MemberIndex>& predecessors = table_->predecessors;
    predecessors.assign(n * n, nowhere);
    for (const DeclaredRoutes::Entry& entry : declared.entries()) {
        costs[entry.from * n + entry.to] = entry.n_links;
        predecessors[entry.from * n + entry.to] = entry.from;
    }
    for (std::size_t over = 0; over < n; ++over) {
        for (std::size_t from = 0; from < n; ++from) {
            const std::uint32_t first = costs[from * n + over];
            if (first == nowhere || from == over) {
                continue;
            }
            for (std::size_t to = 0; to < n; ++to) {
                const std::uint32_t second = costs[over * n + to];
                std::uint32_t& cost = costs[from * n + to];
                if (second != nowhere && from != to && (cost == nowhere || first + second < cost)) {
                    cost = first + second;
                    predecessors[from * n + to] = predecessors[over * n + to];
                }
            }
        }
    }
}

std::vector<const DeclaredRoutes::Entry*> ShortestPaths::floyd_path(MemberIndex from,
                                                                    MemberIndex to) const {
    std::call_once(table_->once, [this] { fill_table(); });
    std::vector<const DeclaredRoutes::Entry*> entries;
    for (MemberIndex at = to; at != from;) {
        const MemberIndex before = table_->predecessors[std::size_t(from) * n_members_ + at];
        if (before == nowhere || entries.size() > n_members_) {
            return {};
        }
        entries.push_back(declared.find(before, at));
        at = before;
    }
    std::reverse(entries.begin(), entries.end());
    return entries;
}

} // namespace noctule
