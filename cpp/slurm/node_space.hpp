// The plan of a backfill pass: stretches of time with the nodes that no job has been planned on.
//
// Plans of jobs are small against the machine, so that taking nodes away looks at their words
// only: each stretch keeps by how many nodes it differs from the next one, which tells without
// looking at them whether both have become one, and where more nodes become usable.
#pragma once

#include "slurm/settings.hpp"
#include "slurm/sparse_nodes.hpp"

#include <vector>

namespace noctule::slurm {

class NodeSpace {
  public:
    struct Stretch {
        Seconds begin;
        Seconds end;
        std::uint32_t place; // of its nodes
        std::uint32_t n_usable;
        std::uint32_t n_more = 0;  // nodes that only the next stretch has
        std::uint32_t n_fewer = 0; // nodes that the next stretch has not
    };

    // One stretch: `usable` from begin to end.
    void reset(Seconds begin, Seconds end, const NodeSet& usable);

    // The same plan a little later, before any of its dates.
    void move_to(Seconds begin, Seconds end);

    // Takes nodes away from begin to a later end; the plan's own begin is the least.
    void reserve(Seconds begin, Seconds end, const NodeSet& nodes);

    // Whether the nodes are usable all along from begin to end.
    bool is_free(Seconds begin, Seconds end, const NodeSet& nodes) const;

    // The nodes of `among` that are usable from start to end, into `usable`. A stretch that begins
    // exactly at the end still counts. Where there are fewer than `least`, none or some are found.
    void usable(const NodeSet& among, Seconds start, Seconds end, std::uint32_t least,
                NodeSet& usable) const;

    // Whether the plan has no other nodes than these.
    bool is_within(const NodeSet& nodes) const { return nodes.contains(all_); }
    // The first date after the start from which a node of `among` is usable that was not before;
    // 0 if there is none. Slurm looks for it one stretch beyond the end.
    Seconds more_from(const NodeSet& among, Seconds start, Seconds end) const;
    Seconds more_from(Seconds start, Seconds end) const; // any node

    // The first date after one at which a stretch begins; the end of time if none does.
    Seconds next_begin(Seconds date) const;

    const std::vector<Stretch>& stretches() const { return stretches_; }
    const NodeSet& nodes(const Stretch& stretch) const { return sets_[stretch.place]; }
    // Records that the table has used up: those of merged stretches are not given back.
    std::uint32_t n_records() const { return n_records_; }

  private:
    using Iterator = std::vector<Stretch>::const_iterator;

    Iterator first_after(Seconds date) const; // that ends after it
    template <typename Counts> Seconds first_more(Seconds start, Seconds end, Counts counts) const;
    std::uint32_t copy_of(std::uint32_t place);
    void split_at(Seconds date);
    void take_before(Stretch& stretch, const Stretch& next);
    void take(Stretch& stretch, const Stretch* next, bool next_changes);
    void merge(std::size_t first, std::size_t last);

    std::vector<Stretch> stretches_;
    mutable std::size_t last_place_ = 0; // where the last search ended, near which the next begins
    NodeSet all_;                        // of the beginning
    std::vector<NodeSet> sets_;
    std::vector<std::uint32_t> unused_; // places
    SparseNodes taken_;                 // kept to save allocations
    std::uint32_t n_records_ = 0;
    bool has_empty_record_ = false;
};

} // namespace noctule::slurm
