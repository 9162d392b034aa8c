// select/cons_tres and cons_res: jobs get cores, memory and generic resources of nodes that they
// share. The nodes are chosen by node_choice; this counts what nodes could give, and predicts.
//
// Cores are counted, not placed: within a node a job gets the lowest that are free, and generic
// resources are not bound to sockets.
//
// Where jobs share cores they are in rows: those of one partition and row have none in common. A
// job looks for cores that are free, then for those of jobs that are suspended under it, then for a
// row of its partition in which it fits.
#pragma once

#include "slurm/node_book.hpp"
#include "slurm/node_choice.hpp"
#include "slurm/select.hpp"

#include <map>
#include <set>
#include <utility>

namespace noctule::slurm {

class SelectCons final : public Select {
  public:
    SelectCons(const Settings& settings, const NodeStates& states);

    std::optional<Choice> run_now(const Trial& trial) override;
    std::optional<Prediction> will_run(const Trial& trial, Seconds now, bool now_only) override;
    std::optional<Choice> run_without(const Trial& trial) override;
    void keep_whole(const Trial& trial) override;
    bool could_ever_run(const Trial& trial) override;
    bool has_busy(const Trial& trial) const override;

    void allocate(JobIndex job, const Request& request, const Choice& choice,
                  Seconds expected_end) override;
    void release(JobIndex job) override;
    void set_expected_end(JobIndex job, Seconds expected_end) override;

    const NodeSet& idle() const override { return book_.idle(); }
    std::uint64_t take_prediction_steps() override { return std::exchange(n_steps_, 0); }

  private:
    // What a request means on these nodes; of all nodes alike.
    struct Needs;
    struct Running {
        Holdings holdings;
        NodeSet nodes;
        Seconds expected_end;
        Minutes limit;
        Minutes over_time_limit;
        bool whole_nodes;
    };

    Needs needs(const Trial& trial) const;
    std::uint32_t cpus_per_core(NodeIndex node) const;
    std::uint32_t cores_for(const Needs& needs, NodeIndex node, std::uint32_t cpus) const;
    std::uint32_t cores_taken(const NodeBook& book, const Needs& needs, NodeIndex node,
                              std::uint32_t cpus) const;
    std::uint32_t affordable_cpus(const NodeBook& book, const Needs& needs, NodeIndex node,
                                  std::uint32_t cpus) const;
    std::uint32_t offered_cpus(const NodeBook& book, const Needs& needs, NodeIndex node) const;
    std::uint32_t cpus_kept(const Needs& needs, NodeIndex node) const;
    Offers offers(const NodeBook& book, const Needs& needs, const NodeSet& among) const;
    std::optional<std::vector<NodeShare>> choose(const NodeBook& book, const Needs& needs,
                                                 const NodeSet& among, bool busy_first) const;
    // Nodes, what is free on them to the job, and its row.
    struct Place {
        std::vector<NodeShare> shares;
        const NodeBook* book;
        std::uint32_t row = 0;
    };
    std::optional<Place> place(const NodeBook& book, const Needs& needs, const Trial& trial,
                               const NodeSet& among);
    void keep_unmixed(const Needs& needs, const Trial& trial, NodeSet& among) const;
    std::uint32_t n_rows(const Needs& needs) const;
    Choice choice_of(const Needs& needs, const Place& place) const;
    Holdings holdings(const NodeBook& book, const Needs& needs,
                      const std::vector<NodeShare>& shares) const;
    HostSet hosts(const Holdings& holdings) const;
    std::vector<std::uint32_t> gres_by_node(const Needs& needs,
                                            const std::vector<NodeShare>& shares) const;
    Seconds guessed_end(const Running& job, Seconds now) const;
    NodeSet nodes_of(const std::vector<NodeShare>& shares) const;

    const Settings& settings_;
    const NodeStates& states_;
    const NodeBook empty_;
    NodeBook book_;
    NodeBook future_; // of a prediction
    NodeBook row_;    // what is free to a job that shares cores
    bool shares_cores_;
    std::map<JobIndex, Running> running_;
    std::set<std::pair<Seconds, JobIndex>> ends_;
    std::set<JobIndex> kept_whole_;
    std::uint64_t n_steps_ = 0;
};

} // namespace noctule::slurm
