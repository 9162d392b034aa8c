// What a backfill pass has learned of its own plan: at most so many nodes can be used from a date
// on, for a duration, by a job that starts by another date. As plans and starts only take nodes
// away, that stays true until the end of the pass, and more so for longer durations and earlier
// dates: most jobs of a long queue need not be tested where those before them found too little.
#pragma once

#include "slurm/requests.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>

namespace noctule::slurm {

class KnownCounts {
  public:
    void clear() { known_.clear(); }

    // Whether it is known that fewer than `least` nodes of a partition can be used from the start.
    bool are_below(std::uint32_t least, std::uint32_t partition, Seconds start, Seconds duration,
                   Seconds by) const {
        const auto found = known_.find(key(partition, start));
        return found != known_.end() && std::ranges::any_of(found->second, [&](const Count& count) {
                   return count.most < least && count.duration <= duration && count.by >= by;
               });
    }

    void note(std::uint32_t most, std::uint32_t partition, Seconds start, Seconds duration,
              Seconds by) {
        Counts& counts = known_[key(partition, start)];
        const Count count{duration, by, most};
        const auto is_said_by = [&](const Count& old) {
            return old.most >= most && old.duration >= duration && old.by <= by;
        };
        const auto old = std::ranges::find_if(counts, is_said_by);
        if (old != counts.end()) {
            *old = count;
        } else { // forget the one that helps the fewest
            *std::ranges::max_element(counts, {}, &Count::most) = count;
        }
    }

  private:
    struct Count {
        Seconds duration = no_date;
        Seconds by = -1;
        std::uint32_t most = none;
    };
    using Counts = std::array<Count, 4>;

    static std::uint64_t key(std::uint32_t partition, Seconds start) {
        return std::uint64_t{partition} << 48 ^ static_cast<std::uint64_t>(start);
    }

    std::unordered_map<std::uint64_t, Counts> known_;
};

} // namespace noctule::slurm
