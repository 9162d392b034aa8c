// Which hosts are free, as a bitmap with one summary level: the engine's own set.
//
// Taking the first hosts and giving hosts back cost a word for 64 hosts, whatever the
// fragmentation; an interval set costs a search and a shift for each fragment.
#pragma once

#include "host_set.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace noctule {

class FreeHosts {
  public:
    explicit FreeHosts(std::uint32_t n_hosts); // all free

    std::uint32_t count() const { return count_; }
    std::uint32_t n_hosts() const { return n_hosts_; }
    bool contains(HostId host) const { return (words_[host / 64] >> (host % 64) & 1) != 0; }
    HostSet to_host_set() const;

    // Calls visit(HostId) for each host that is not free.
    template <typename Visit> void for_each_taken(Visit&& visit) const;

    // Takes the n lowest free hosts and calls visit(Interval) for each run; n <= count().
    template <typename Visit> void take_first(std::uint32_t n, Visit&& visit);

    // Those hosts of the set that are free: how many, and the n lowest, which must be there.
    std::uint32_t count(const HostSet& among) const;
    HostSet first_of(const HostSet& among, std::uint32_t n) const;

    // The lowest run of at least n free hosts, cut to n.
    std::optional<Interval> find_run(std::uint32_t n) const;

    // Whether the free hosts of the interval lie in a run of at least n.
    bool lie_in_run(Interval interval, std::uint32_t n) const;

    // Whether every host of the interval is free.
    bool contains(Interval interval) const;

    // Every host of the interval must be free, and none, respectively.
    void take(Interval interval);
    void give(Interval interval) {
        count_ += interval.last - interval.first + 1;
        const std::uint32_t w = interval.first / 64;
        if (interval.last / 64 != w) {
            give_words(interval);
            return;
        }
        const std::uint64_t upper = all_free >> (63 - (interval.last - interval.first));
        words_[w] |= upper << (interval.first % 64);
        summary_[w / 64] |= std::uint64_t{1} << (w % 64);
    }

    // Takes those hosts of the interval, or of the set, that are free.
    void exclude(Interval interval);
    void exclude(const HostSet& hosts);

    // Takes those that are not free in the other, or not in the set.
    void keep(const FreeHosts& other);
    void keep(const HostSet& hosts);

  private:
    static constexpr std::uint64_t all_free = ~std::uint64_t{0};

    void give_words(Interval interval);

    // The lowest free host from this one on, or the lowest that is not; at most the limit.
    HostId next(HostId from, HostId limit, bool free) const;

    template <typename Change> void for_words(Interval interval, Change&& change);

    std::uint32_t n_hosts_;
    std::uint32_t count_;
    std::vector<std::uint64_t> words_;
    std::vector<std::uint64_t> summary_; // bit w: word w has a free host
};

template <typename Visit> void FreeHosts::for_each_taken(Visit&& visit) const {
    if (count_ == n_hosts_) {
        return;
    }
    for (std::uint32_t w = 0; w < words_.size(); ++w) {
        for (std::uint64_t taken = ~words_[w]; taken != 0; taken &= taken - 1) {
            const HostId host = w * 64 + static_cast<std::uint32_t>(__builtin_ctzll(taken));
            if (host < n_hosts_) {
                visit(host);
            }
        }
    }
}

template <typename Visit> void FreeHosts::take_first(std::uint32_t n, Visit&& visit) {
    count_ -= n;
    Interval run{1, 0}; // empty
    const auto extend = [&](HostId first, HostId last) {
        if (run.last + 1 == first && run.first <= run.last) {
            run.last = last;
        } else {
            if (run.first <= run.last) {
                visit(run);
            }
            run = {first, last};
        }
    };
    for (std::size_t s = 0; n > 0; ++s) {
        std::uint64_t occupied = summary_[s];
        while (occupied != 0 && n > 0) {
            const auto w = static_cast<std::uint32_t>(s * 64) +
                           static_cast<std::uint32_t>(__builtin_ctzll(occupied));
            occupied &= occupied - 1;
            std::uint64_t word = words_[w];
            if (word == all_free && n >= 64) {
                words_[w] = 0;
                summary_[s] &= ~(std::uint64_t{1} << (w % 64));
                n -= 64;
                extend(w * 64, w * 64 + 63);
                continue;
            }
            do {
                const auto low = static_cast<std::uint32_t>(__builtin_ctzll(word));
                const std::uint64_t shifted = ~(word >> low);
                std::uint32_t length =
                    shifted == 0 ? 64 : static_cast<std::uint32_t>(__builtin_ctzll(shifted));
                length = length < n ? length : n;
                const std::uint64_t mask =
                    (length == 64 ? all_free : (std::uint64_t{1} << length) - 1) << low;
                word &= ~mask;
                n -= length;
                extend(w * 64 + low, w * 64 + low + length - 1);
            } while (word != 0 && n > 0);
            words_[w] = word;
            if (word == 0) {
                summary_[s] &= ~(std::uint64_t{1} << (w % 64));
            }
        }
    }
    if (run.first <= run.last) {
        visit(run);
    }
}

} // namespace noctule
