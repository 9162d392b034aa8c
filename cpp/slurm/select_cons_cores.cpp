// What a job gets of the nodes that were chosen for it: cores, memory and generic resources.
#include "slurm/select_cons.hpp"

#include "slurm/select_needs.hpp"

#include <algorithm>
#include <bit>

namespace noctule::slurm {

// Cores that so many CPUs take: whole ones, for each task of its own where tasks share none.
std::uint32_t SelectCons::cores_for(const Needs& needs, NodeIndex node, std::uint32_t cpus) const {
    const std::uint32_t threads = cpus_per_core(node);
    if (!needs.task_per_core) {
        return (cpus + threads - 1) / threads;
    }
    const std::uint32_t a_task = std::max(1U, needs.request.cpus_per_task);
    const std::uint32_t cores_of_a_task = (a_task + threads - 1) / threads;
    return cpus / a_task * cores_of_a_task + (cpus % a_task + threads - 1) / threads;
}

// The same with CR_Socket: all cores of the sockets that its CPUs are on. CPUs go from socket to
// socket; those of a task of several stay together, and a socket has as many such tasks as fit
// before the next one has any.
std::uint32_t SelectCons::cores_taken(const NodeBook& book, const Needs& needs, NodeIndex node,
                                      std::uint32_t cpus) const {
    if (needs.demand.whole_nodes) {
        return book_.n_cores(node);
    }
    const std::uint32_t cores = cores_for(needs, node, cpus);
    if (!needs.tasks_go_round) {
        return cores;
    }
    const std::uint32_t a_task = std::max(1U, needs.request.cpus_per_task);
    const std::uint32_t socket = settings_.nodes[node].cores_per_socket;
    const std::uint32_t of_tasks = socket * cpus_per_core(node) / a_task * a_task;
    const std::uint32_t sockets =
        a_task > 1 && of_tasks > 0 ? (cpus + of_tasks - 1) / of_tasks : cores;
    return std::max(cores, std::min(sockets * socket, book.cores_of_free_sockets(node)));
}

// What it asked for by node and by task, and of each per-job kind one a node, then as much as
// the nodes have, lowest node first.
std::vector<std::uint32_t> SelectCons::gres_by_node(const Needs& needs,
                                                    const std::vector<NodeShare>& shares) const {
    const std::size_t n_kinds = settings_.gres_kinds.size();
    std::vector<std::uint32_t> wanted(shares.size() * n_kinds, 0);
    const std::uint32_t a_task = std::max(1U, needs.request.cpus_per_task);
    for (const GresRequest& gres : needs.request.gres) {
        std::uint32_t left = gres.per_job;
        for (std::size_t i = 0; i < shares.size(); ++i) {
            std::uint32_t& here = wanted[i * n_kinds + gres.kind];
            here += gres.per_node + gres.per_task * (shares[i].cpus / a_task);
            if (left > 0) {
                ++here;
                --left;
            }
        }
        for (std::size_t i = 0; i < shares.size() && left > 0; ++i) {
            std::uint32_t& here = wanted[i * n_kinds + gres.kind];
            const std::uint32_t free = book_.free_gres(shares[i].node, gres.kind);
            const std::uint32_t more = std::min(left, free - std::min(free, here));
            here += more;
            left -= more;
        }
    }
    std::vector<std::uint32_t> taken;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const auto here =
            book_.pick_gres(shares[i].node, std::span(wanted).subspan(i * n_kinds, n_kinds));
        taken.insert(taken.end(), here.begin(), here.end());
    }
    return taken;
}

Holdings SelectCons::holdings(const NodeBook& book, const Needs& needs,
                              const std::vector<NodeShare>& shares) const {
    const SelectParameters& parameters = settings_.parameters.select;
    Holdings held;
    held.partition = needs.partition;
    held.shares = needs.shares;
    for (const NodeShare& share : shares) {
        const std::vector<std::uint64_t> cores = book.pick_cores(
            share.node, cores_taken(book, needs, share.node, share.cpus), needs.whole_sockets);
        std::uint32_t n_picked = 0;
        for (const std::uint64_t word : cores) {
            n_picked += static_cast<std::uint32_t>(std::popcount(word));
        }
        const bool counts_cpus = parameters.unit == SelectParameters::Unit::cpu;
        const std::uint32_t cpus = counts_cpus && !needs.demand.whole_nodes
                                       ? share.cpus
                                       : n_picked * cpus_per_core(share.node);
        std::uint64_t memory = 0;
        if (needs.counts_memory) {
            memory = needs.memory_mb == 0      ? settings_.nodes[share.node].memory_mb
                     : needs.memory_is_per_cpu ? needs.memory_mb * cpus
                                               : needs.memory_mb;
        }
        held.nodes.push_back({share.node, cpus, memory});
        held.cores.insert(held.cores.end(), cores.begin(), cores.end());
    }
    if (!needs.request.gres.empty()) {
        held.gres = gres_by_node(needs, shares);
    }
    return held;
}

HostSet SelectCons::hosts(const Holdings& holdings) const {
    HostSet hosts;
    const std::size_t n_words =
        holdings.nodes.empty() ? 0 : holdings.cores.size() / holdings.nodes.size();
    for (std::size_t i = 0; i < holdings.nodes.size(); ++i) {
        const HostId first = settings_.nodes[holdings.nodes[i].node].first_host;
        NodeSet cores(static_cast<std::uint32_t>(n_words * 64));
        for (std::size_t w = 0; w < n_words; ++w) {
            for (std::uint64_t word = holdings.cores[i * n_words + w]; word != 0;
                 word &= word - 1) {
                cores.add(static_cast<NodeIndex>(w * 64) +
                          static_cast<NodeIndex>(std::countr_zero(word)));
            }
        }
        cores.for_each_run([&](NodeRun run) {
            hosts.append({first + run.first, first + run.first + run.size - 1});
        });
    }
    return hosts;
}

} // namespace noctule::slurm
