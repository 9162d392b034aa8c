// Running jobs in the order of their expected ends, and what nodes they give back by a date.
#pragma once

#include "slurm/requests.hpp"
#include "slurm/sparse_nodes.hpp"

#include <algorithm>
#include <vector>

namespace noctule::slurm {

// At equal ends in the order of submission, which is that of jobs.
class ExpectedEnds {
  public:
    explicit ExpectedEnds(std::uint32_t n_nodes) : n_nodes_(n_nodes) {}

    struct Entry {
        Seconds end;
        JobIndex job;
        const SparseNodes* nodes;
    };

    void add(const Entry& entry) { entries_.insert(forget_from(entry.end, entry.job), entry); }
    void remove(Seconds end, JobIndex job) { entries_.erase(forget_from(end, job)); }
    const std::vector<Entry>& entries() const { return entries_; }

    // How many jobs are expected to end by a date.
    std::size_t n_by(Seconds date) const {
        const auto after = std::ranges::upper_bound(entries_, date, {}, &Entry::end);
        return static_cast<std::size_t>(after - entries_.begin());
    }

    // The nodes of the first n jobs, of which there are some. They are gathered once, until one
    // of these jobs changes.
    const NodeSet& nodes_of_first(std::size_t n) {
        if (gathered_.size() < n) {
            gathered_.resize(n);
        }
        for (; n_gathered_ < n; ++n_gathered_) {
            NodeSet& nodes = gathered_[n_gathered_];
            nodes = n_gathered_ == 0 ? NodeSet(n_nodes_) : gathered_[n_gathered_ - 1];
            entries_[n_gathered_].nodes->add_to(nodes);
        }
        return gathered_[n - 1];
    }

  private:
    // The place of a job, from which on nodes must be gathered anew.
    std::vector<Entry>::iterator forget_from(Seconds end, JobIndex job) {
        const auto place =
            std::ranges::lower_bound(entries_, std::pair(end, job), {}, [](const Entry& entry) {
                return std::pair(entry.end, entry.job);
            });
        n_gathered_ = std::min(n_gathered_, static_cast<std::size_t>(place - entries_.begin()));
        return place;
    }

    std::uint32_t n_nodes_;
    std::vector<Entry> entries_;
    std::vector<NodeSet> gathered_; // by entry: its nodes and those of all before it
    std::size_t n_gathered_ = 0;    // how many of them are right
};

} // namespace noctule::slurm
