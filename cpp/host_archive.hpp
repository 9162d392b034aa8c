// Host sets of started jobs, packed: each run of hosts is two variable-length numbers.
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

        void begin() { size_ = 0, next_ = 0; }

        void add(Interval run) {
            if (bytes_.size() - size_ < 10) { // two numbers of five bytes
                bytes_.resize(2 * bytes_.size());
            }
            put(run.first - next_);
            put(run.last - run.first);
            next_ = run.last + 1;
        }

      private:
        friend class HostArchive;

        void put(std::uint32_t value) {
            while (value >= 128) {
                bytes_[size_++] = static_cast<std::uint8_t>(value | 128);
                value >>= 7;
            }
            bytes_[size_++] = static_cast<std::uint8_t>(value);
        }

        std::vector<std::uint8_t> bytes_;
        std::size_t size_ = 0;
        HostId next_ = 0;
    };

    ArchivedHosts keep(const Packer& packer) {
        if (blocks_.empty() || blocks_.back().size() - used_ < packer.size_) {
            blocks_.emplace_back(packer.size_ > block_size ? packer.size_ : block_size);
            used_ = 0;
        }
        std::memcpy(blocks_.back().data() + used_, packer.bytes_.data(), packer.size_);
        const ArchivedHosts kept{static_cast<std::uint32_t>(blocks_.size() - 1),
                                 static_cast<std::uint32_t>(used_)};
        used_ += packer.size_;
        return kept;
    }

    // Calls visit(Interval) for the runs of a set of n hosts.
    template <typename Visit>
    void for_each(ArchivedHosts hosts, std::uint32_t n, Visit&& visit) const {
        const std::uint8_t* at = blocks_[hosts.block].data() + hosts.offset;
        const auto get = [&] {
            std::uint32_t value = *at & 127;
            for (int shift = 7; (*at++ & 128) != 0; shift += 7) {
                value |= static_cast<std::uint32_t>(*at & 127) << shift;
            }
            return value;
        };
        for (HostId next = 0; n > 0;) {
            const HostId first = next + get();
            const HostId last = first + get();
            visit(Interval{first, last});
            n -= last - first + 1;
            next = last + 1;
        }
    }

  private:
    static constexpr std::size_t block_size = std::size_t{1} << 18;

    std::vector<std::vector<std::uint8_t>> blocks_;
    std::size_t used_ = 0;
};

} // namespace noctule
