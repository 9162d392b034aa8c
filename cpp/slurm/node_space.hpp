// The plan of a backfill pass: stretches of time with the nodes that no job has been planned on.
#pragma once

#include "slurm/settings.hpp"

#include <vector>

namespace noctule::slurm {

class NodeSpace {
  public:
    struct Stretch {
        Seconds begin;
        Seconds end;
        NodeSet usable;
        mutable std::uint32_t n_usable = none; // counted when somebody asks

        std::uint32_t count() const {
            n_usable = n_usable == none ? usable.count() : n_usable;
            return n_usable;
        }
    };

    // One stretch: `usable` from begin to end.
    void reset(Seconds begin, Seconds end, const NodeSet& usable);

    // The same plan a little later, before any of its dates.
    void move_to(Seconds begin, Seconds end);

    // Takes nodes away from begin to end, of which the plan's own begin is the least.
    void reserve(Seconds begin, Seconds end, const NodeSet& nodes);

    // Whether the nodes are usable all along from begin to end.
    bool is_free(Seconds begin, Seconds end, const NodeSet& nodes) const;

    // The nodes of `among` that are usable from start to end, into `usable`; and the first date
    // from which more of them are, 0 if there is none. A stretch that begins exactly at the end
    // still counts. Where there are fewer than `least`, none or some that are not usable are found.
    Seconds usable(const NodeSet& among, Seconds start, Seconds end, std::uint32_t least,
                   NodeSet& usable) const;

    // The first date after one at which a stretch begins; the end of time if none does.
    Seconds next_begin(Seconds date) const;

    const std::vector<Stretch>& stretches() const { return stretches_; }
    // Records that the table has used up: those of merged stretches are not given back.
    std::uint32_t n_records() const { return n_records_; }

  private:
    void split_at(Seconds date);
    bool has_fewer(std::vector<Stretch>::const_iterator from, Seconds end,
                   std::uint32_t least) const;

    std::vector<Stretch> stretches_;
    std::vector<NodeSet> spare_; // kept to save allocations
    std::uint32_t n_records_ = 0;
};

} // namespace noctule::slurm
