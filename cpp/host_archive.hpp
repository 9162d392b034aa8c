// Host sets of started jobs, packed: each run of hosts as two numbers of variable length, how many
// hosts lie before it and how long it is; the lowest bit of the latter tells the last run.
//
// First-hosts allocation fragments to dozens of runs a job; packed, a run takes 2 to 4 bytes
// instead of 8. Fixed blocks, so that growing never copies.
#pragma once

#include "host_set.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace noctule {

struct ArchivedHosts {
    static constexpr std::uint32_t no_block = std::numeric_limits<std::uint32_t>::max();

    std::uint32_t block = no_block; // of an empty set
    std::uint32_t offset = 0;
};

class HostArchive {
  public:
    // Packs the runs of a set one by one, in increasing order, then keeps it. One that was begun
    // and not kept is forgotten.
    void begin() {
        at_ = used_;
        next_ = 0;
    }
    void add(Interval run) {
        if (end_ - at_ < most_bytes_a_run) [[unlikely]] {
            add_block();
        }
        std::uint8_t* bytes = blocks_.back().data();
        put(bytes, run.first - next_);
        last_run_ = at_;
        put(bytes, std::uint64_t{run.last - run.first} << 1);
        next_ = run.last + 1;
    }
    ArchivedHosts keep() {
        if (at_ == used_) {
            return {};
        }
        blocks_.back()[last_run_] |= 1;
        const ArchivedHosts kept{static_cast<std::uint32_t>(blocks_.size() - 1),
                                 static_cast<std::uint32_t>(used_)};
        used_ = at_;
        return kept;
    }

    // Calls visit(Interval) for the runs of a set.
    template <typename Visit> void for_each(ArchivedHosts hosts, Visit&& visit) const {
        if (hosts.block == ArchivedHosts::no_block) {
            return;
        }
        const std::uint8_t* at = blocks_[hosts.block].data() + hosts.offset;
        const auto get = [&] {
            std::uint64_t value = *at & 127;
            for (int shift = 7; (*at++ & 128) != 0; shift += 7) {
                value |= static_cast<std::uint64_t>(*at & 127) << shift;
            }
            return value;
        };
        HostId next = 0;
        for (bool is_last = false; !is_last;) {
            const HostId first = next + static_cast<HostId>(get());
            const std::uint64_t length = get();
            const HostId last = first + static_cast<HostId>(length >> 1);
            is_last = (length & 1) != 0;
            visit(Interval{first, last});
            next = last + 1;
        }
    }

  private:
    static constexpr std::size_t block_size = std::size_t{1} << 18;
    static constexpr std::size_t most_bytes_a_run = 10; // two numbers of five

    void put(std::uint8_t* bytes, std::uint64_t value) {
        while (value >= 128) {
            bytes[at_++] = static_cast<std::uint8_t>(value | 128);
            value >>= 7;
        }
        bytes[at_++] = static_cast<std::uint8_t>(value);
    }

    // The set that is being packed moves into the new one.
    [[gnu::noinline]] void add_block() {
        const std::size_t packed = at_ - used_;
        std::vector<std::uint8_t> block(std::max(block_size, 2 * packed + most_bytes_a_run));
        if (packed > 0) {
            std::memcpy(block.data(), blocks_.back().data() + used_, packed);
        }
        end_ = block.size();
        blocks_.push_back(std::move(block));
        at_ = packed;
        used_ = 0;
    }

    std::vector<std::vector<std::uint8_t>> blocks_;
    std::size_t end_ = 0;  // of the last block
    std::size_t used_ = 0; // of it, by sets that are kept
    std::size_t at_ = 0;   // where the set that is being packed goes on
    std::size_t last_run_ = 0;
    HostId next_ = 0;
};

} // namespace noctule
