// What is free on each node where jobs share nodes: cores one by one, memory, generic resources.
// A plain value, so that a prediction works on a copy.
#pragma once

#include "slurm/holdings.hpp"

#include <span>
#include <vector>

namespace noctule::slurm {

class NodeBook {
  public:
    // Throws InputError if a node's hosts are not its cores (or its CPUs, where those are what
    // jobs get).
    // Cores are counted for each job where settings let jobs share them.
    explicit NodeBook(const Settings& settings);

    std::uint32_t n_cores(NodeIndex node) const { return n_cores_[node]; }
    std::uint32_t free_cores(NodeIndex node) const { return free_cores_[node]; }
    // In sockets of which every core is free.
    std::uint32_t cores_of_free_sockets(NodeIndex node) const;
    std::uint64_t free_memory(NodeIndex node) const { return free_memory_[node]; }
    bool memory_is_untouched(NodeIndex node) const { return n_with_memory_[node] == 0; }
    // Of a kind, or of any of its types where the kind is a family ("gpu").
    std::uint32_t free_gres(NodeIndex node, std::uint32_t kind) const;
    // CPUs that jobs of a partition hold of a node, where the partition bounds them.
    std::uint32_t cores_of_partition(NodeIndex node, std::uint32_t partition) const;
    // Nodes of no job.
    const NodeSet& idle() const { return idle_; }

    // The lowest free cores, or those of the lowest free sockets; as many as asked for, rounded
    // up to whole sockets in the second case.
    std::vector<std::uint64_t> pick_cores(NodeIndex node, std::uint32_t n,
                                          bool whole_sockets) const;
    // What is taken for so many of each kind. Of a family: those of no type first, then type by
    // type. There must be enough.
    std::vector<std::uint32_t> pick_gres(NodeIndex node,
                                         std::span<const std::uint32_t> by_kind) const;

    void take(const Holdings& holdings) { change(holdings, true); }
    void give_back(const Holdings& holdings) { change(holdings, false); }
    // For a look at what some jobs would leave: all cores are free, then those of a job are not.
    void free_all_cores();
    void block_cores(const Holdings& holdings);

  private:
    void change_cores(const Holdings& holdings, bool takes);
    std::uint32_t change_shared_cores(NodeIndex node, std::span<const std::uint64_t> held,
                                      bool takes);
    void change(const Holdings& holdings, bool takes);
    std::span<const std::uint64_t> words(NodeIndex node) const {
        return {cores_.data() + std::size_t{node} * n_words_, n_words_};
    }
    bool socket_is_free(NodeIndex node, std::uint32_t socket) const;

    std::size_t n_words_ = 1;
    std::size_t n_kinds_ = 0;
    std::vector<std::uint64_t> cores_; // set: free
    // Jobs on each core, where there may be several; empty otherwise.
    std::vector<std::uint16_t> n_on_core_;
    std::vector<std::uint32_t> n_cores_;
    std::vector<std::uint32_t> cores_per_socket_;
    std::vector<std::uint32_t> free_cores_;
    std::vector<std::uint64_t> free_memory_;
    std::vector<std::uint32_t> n_with_memory_; // jobs that hold memory of the node
    std::vector<std::uint32_t> n_jobs_;
    std::vector<std::uint32_t> free_gres_; // by node, then by kind; types apart from their family
    std::vector<std::uint32_t> family_;    // of each kind; itself where it has no type
    // By bounded partition, then by node.
    std::vector<std::uint32_t> row_of_partition_;
    std::vector<std::uint32_t> partition_cores_;
    NodeSet idle_;
};

} // namespace noctule::slurm
