// The jobs that replies may name: few of all, so that they stay in the processor's caches.
#pragma once

#include "protocol/job_names.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

namespace noctule {

class NamedJobs {
  public:
    explicit NamedJobs(std::shared_ptr<const JobNames> names) : names_(std::move(names)) {}

    JobIndex find(std::string_view name) const { return slots_[slot_of(name, hash_of(name))].job; }

    void add(JobIndex job) {
        if (2 * (n_ + 1) > slots_.size()) {
            grow();
        }
        const std::string_view name = (*names_)[job];
        const std::uint32_t hash = hash_of(name);
        Slot& slot = slots_[slot_of(name, hash)];
        n_ += slot.job == no_job ? 1 : 0;
        slot = {hash, job};
    }

    void drop(std::string_view name) {
        std::size_t hole = slot_of(name, hash_of(name));
        if (slots_[hole].job == no_job) {
            return;
        }
        --n_;
        slots_[hole] = {};
        // what was put behind it for want of room moves up
        for (std::size_t at = next(hole); slots_[at].job != no_job; at = next(at)) {
            const std::size_t home = slots_[at].hash & mask();
            if (((at - home) & mask()) >= ((at - hole) & mask())) {
                slots_[hole] = std::exchange(slots_[at], {});
                hole = at;
            }
        }
    }

  private:
    struct Slot {
        std::uint32_t hash = 0;
        JobIndex job = no_job;
    };

    std::size_t mask() const { return slots_.size() - 1; }
    std::size_t next(std::size_t at) const { return (at + 1) & mask(); }

    // By the length and the last letters, in which names differ.
    static std::uint32_t hash_of(std::string_view name) {
        std::uint64_t last = 0;
        const std::size_t n = std::min(name.size(), sizeof last);
        if (n == sizeof last) {
            std::memcpy(&last, name.data() + name.size() - n, sizeof last);
        } else {
            std::memcpy(&last, name.data(), n);
        }
        // twice, as a product spreads what differs only to what is above it
        constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
        const std::uint64_t product = (last ^ name.size()) * factor;
        return static_cast<std::uint32_t>((product ^ product >> 32) * factor >> 32);
    }

    // Where a name is, or would be.
    std::size_t slot_of(std::string_view name, std::uint32_t hash) const {
        std::size_t at = hash & mask();
        while (slots_[at].job != no_job &&
               (slots_[at].hash != hash || (*names_)[slots_[at].job] != name)) {
            at = next(at);
        }
        return at;
    }

    void grow() {
        const auto old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
        for (const Slot& slot : old) {
            if (slot.job != no_job) {
                slots_[slot_of((*names_)[slot.job], slot.hash)] = slot;
            }
        }
    }

    std::shared_ptr<const JobNames> names_;
    std::vector<Slot> slots_ = std::vector<Slot>(64); // as many as a power of two
    std::size_t n_ = 0;
};

} // namespace noctule
