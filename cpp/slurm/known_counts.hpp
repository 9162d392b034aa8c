// What a backfill pass has learned of its own plan: at most so many nodes can be used from a date
// on, for a duration, by a job that starts by another date. As plans and starts only take nodes
// away, that stays true until the end of the pass, and more so for longer durations and earlier
// dates: most jobs of a long queue need not be tested where those before them found too little.
#pragma once

#include "slurm/requests.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace noctule::slurm {

class KnownCounts {
  public:
    void clear() {
        ++pass_;
        n_used_ = 0;
    }

    // Whether it is known that fewer than `least` nodes of a partition can be used from the start.
    bool are_below(std::uint32_t least, std::uint32_t partition, Seconds start, Seconds duration,
                   Seconds by) const {
        const Slot& slot = slots_[place_of(key(partition, start))];
        return slot.pass == pass_ && std::ranges::any_of(slot.counts, [&](const Count& count) {
                   return count.most < least && count.duration <= duration && count.by >= by;
               });
    }

    void note(std::uint32_t most, std::uint32_t partition, Seconds start, Seconds duration,
              Seconds by) {
        Counts& counts = slot_of(key(partition, start)).counts;
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
    // Of a table that is asked at each date of each job: neighbours take what would fall together.
    struct Slot {
        std::uint64_t key = 0;
        std::uint64_t pass = 0; // in which it was filled; others are empty
        Counts counts = {};
    };

    static std::uint64_t key(std::uint32_t partition, Seconds start) {
        return std::uint64_t{partition} << 48 ^ static_cast<std::uint64_t>(start);
    }

    // Where a key is, or would be.
    std::size_t place_of(std::uint64_t key) const {
        std::size_t place = key * 0x9e3779b97f4a7c15 >> 32 & (slots_.size() - 1);
        while (slots_[place].pass == pass_ && slots_[place].key != key) {
            place = (place + 1) & (slots_.size() - 1);
        }
        return place;
    }

    Slot& slot_of(std::uint64_t key) {
        std::size_t place = place_of(key);
        if (slots_[place].pass != pass_) {
            if (++n_used_ * 2 > slots_.size()) {
                grow();
                place = place_of(key);
            }
            slots_[place] = {key, pass_, {}};
        }
        return slots_[place];
    }

    void grow() {
        const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
        for (const Slot& slot : old) {
            if (slot.pass == pass_) {
                slots_[place_of(slot.key)] = slot;
            }
        }
    }

    std::vector<Slot> slots_ = std::vector<Slot>(256); // a power of two, at most half full
    std::size_t n_used_ = 0;
    std::uint64_t pass_ = 1;
};

} // namespace noctule::slurm
