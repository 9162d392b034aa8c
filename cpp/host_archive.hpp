// Host sets of started jobs, packed: how many runs of hosts, then each run as two numbers of
// variable length.
//
// First-hosts allocation fragments to dozens of runs a job; packed, a run takes 2 to 4 bytes
// instead of 8. Fixed blocks, so that growing never copies.
#pragma once

#include "host_set.hpp"

#include <cstring>
#include <vector>

namespace noctule {

struct ArchivedHosts {
    std::uint32_t block;
    std::uint32_t offset;
};

class HostArchive {
  public:
    // Packs the runs one by one, in increasing order, then keeps them.
    class Packer {
      public:
        Packer() : bytes_(256) {}

        void begin() { first_ = size_ = room_for_count, next_ = 0, n_runs_ = 0; }

        void add(Interval run) {
            if (bytes_.size() - size_ < 10) { // two numbers of five bytes
                bytes_.resize(2 * bytes_.size());
            }
            put(size_, run.first - next_);
            put(size_, run.last - run.first);
            next_ = run.last + 1;
            ++n_runs_;
        }

      private:
        friend class HostArchive;

        static constexpr std::size_t room_for_count = 5;

        void put(std::size_t& at, std::uint32_t value) {
            while (value >= 128) {
                bytes_[at++] = static_cast<std::uint8_t>(value | 128);
                value >>= 7;
            }
            bytes_[at++] = static_cast<std::uint8_t>(value);
        }

        // Puts the count in front of the runs.
        void close() {
            std::size_t n_bytes = 1;
            for (std::uint32_t rest = n_runs_; rest >= 128; rest >>= 7) {
                ++n_bytes;
            }
            first_ = room_for_count - n_bytes;
            std::size_t at = first_;
            put(at, n_runs_);
        }

        std::vector<std::uint8_t> bytes_;
        std::size_t first_ = room_for_count;
        std::size_t size_ = room_for_count;
        HostId next_ = 0;
        std::uint32_t n_runs_ = 0;
    };

    ArchivedHosts keep(Packer& packer) {
        packer.close();
        const std::size_t size = packer.size_ - packer.first_;
        if (blocks_.empty() || blocks_.back().size() - used_ < size) {
            blocks_.emplace_back(size > block_size ? size : block_size);
            used_ = 0;
        }
        std::memcpy(blocks_.back().data() + used_, packer.bytes_.data() + packer.first_, size);
        const ArchivedHosts kept{static_cast<std::uint32_t>(blocks_.size() - 1),
                                 static_cast<std::uint32_t>(used_)};
        used_ += size;
        return kept;
    }

    // Calls visit(Interval) for the runs of a set.
    template <typename Visit> void for_each(ArchivedHosts hosts, Visit&& visit) const {
        const std::uint8_t* at = blocks_[hosts.block].data() + hosts.offset;
        const auto get = [&] {
            std::uint32_t value = *at & 127;
            for (int shift = 7; (*at++ & 128) != 0; shift += 7) {
                value |= static_cast<std::uint32_t>(*at & 127) << shift;
            }
            return value;
        };
        HostId next = 0;
        for (std::uint32_t n_runs = get(); n_runs > 0; --n_runs) {
            const HostId first = next + get();
            const HostId last = first + get();
            visit(Interval{first, last});
            next = last + 1;
        }
    }

  private:
    static constexpr std::size_t block_size = std::size_t{1} << 18;

    std::vector<std::vector<std::uint8_t>> blocks_;
    std::size_t used_ = 0;
};

} // namespace noctule
