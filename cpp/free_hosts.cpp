#include "free_hosts.hpp"

#include <algorithm>
#include <bit>

namespace noctule {

namespace {

constexpr std::uint64_t all_ones = ~std::uint64_t{0};

// Bits of word `w` that lie inside the interval.
std::uint64_t mask_of(std::size_t w, Interval interval) {
    std::uint64_t mask = all_ones;
    if (w == interval.first / 64) {
        mask &= all_ones << (interval.first % 64);
    }
    if (w == interval.last / 64) {
        mask &= all_ones >> (63 - interval.last % 64);
    }
    return mask;
}

} // namespace

FreeHosts::FreeHosts(std::uint32_t n_hosts)
    : n_hosts_(n_hosts), count_(0), words_((n_hosts + 63) / 64),
      summary_((words_.size() + 63) / 64) {
    if (n_hosts > 0) {
        give({0, n_hosts - 1});
    }
}

template <typename Change> void FreeHosts::for_words(Interval interval, Change&& change) {
    for (std::size_t w = interval.first / 64; w <= interval.last / 64; ++w) {
        const std::uint64_t word = words_[w] = change(words_[w], mask_of(w, interval));
        const std::uint64_t bit = std::uint64_t{1} << (w % 64);
        summary_[w / 64] = word == 0 ? summary_[w / 64] & ~bit : summary_[w / 64] | bit;
    }
}

void FreeHosts::take(Interval interval) {
    for_words(interval, [](std::uint64_t word, std::uint64_t mask) { return word & ~mask; });
    count_ -= static_cast<std::uint32_t>(interval.size());
}

void FreeHosts::give_words(Interval interval) {
    for_words(interval, [](std::uint64_t word, std::uint64_t mask) { return word | mask; });
}

void FreeHosts::exclude(Interval interval) {
    for_words(interval, [this](std::uint64_t word, std::uint64_t mask) {
        count_ -= static_cast<std::uint32_t>(std::popcount(word & mask));
        return word & ~mask;
    });
}

void FreeHosts::exclude(const HostSet& hosts) {
    for (const Interval& interval : hosts.intervals()) {
        exclude(interval);
    }
}

void FreeHosts::keep(const FreeHosts& other) {
    count_ = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
        words_[w] &= other.words_[w];
        count_ += static_cast<std::uint32_t>(std::popcount(words_[w]));
        const std::uint64_t bit = std::uint64_t{1} << (w % 64);
        summary_[w / 64] = words_[w] == 0 ? summary_[w / 64] & ~bit : summary_[w / 64] | bit;
    }
}

void FreeHosts::keep(const HostSet& hosts) {
    HostId from = 0;
    for (const Interval& interval : hosts.intervals()) {
        if (interval.first > from) {
            exclude(Interval{from, interval.first - 1});
        }
        from = interval.last + 1;
    }
    if (from < n_hosts_) {
        exclude(Interval{from, n_hosts_ - 1});
    }
}

bool FreeHosts::contains(Interval interval) const {
    for (std::size_t w = interval.first / 64; w <= interval.last / 64; ++w) {
        const std::uint64_t mask = mask_of(w, interval);
        if ((words_[w] & mask) != mask) {
            return false;
        }
    }
    return true;
}

std::uint32_t FreeHosts::count(const HostSet& among) const {
    std::uint32_t n = 0;
    for (const Interval& interval : among.intervals()) {
        for (std::size_t w = interval.first / 64; w <= interval.last / 64; ++w) {
            n += static_cast<std::uint32_t>(std::popcount(words_[w] & mask_of(w, interval)));
        }
    }
    return n;
}

HostId FreeHosts::next(HostId from, HostId limit, bool free) const {
    while (from < limit) {
        const std::uint64_t word = (free ? words_[from / 64] : ~words_[from / 64]) >> (from % 64);
        if (word != 0) {
            return std::min(limit, from + static_cast<HostId>(std::countr_zero(word)));
        }
        from = (from / 64 + 1) * 64;
    }
    return limit;
}

HostSet FreeHosts::first_of(const HostSet& among, std::uint32_t n) const {
    HostSet hosts;
    for (const Interval& interval : among.intervals()) {
        const HostId end = interval.last + 1;
        HostId host = next(interval.first, end, true);
        while (host < end && n > 0) {
            const HostId run_end = next(host, std::min(end, host + n), false);
            hosts.append({host, run_end - 1});
            n -= run_end - host;
            host = next(run_end, end, true);
        }
    }
    return hosts;
}

std::optional<Interval> FreeHosts::find_run(std::uint32_t n) const {
    HostId start = 0;
    std::uint32_t length = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
        const std::uint64_t word = words_[w];
        if (word == 0) {
            length = 0;
            continue;
        }
        for (std::uint32_t bit = 0; bit < 64;) {
            const std::uint64_t rest = word >> bit;
            if (rest == 0) {
                length = 0;
                break;
            }
            const auto gap = static_cast<std::uint32_t>(std::countr_zero(rest));
            if (gap > 0) {
                length = 0;
                bit += gap;
            }
            const auto ones = static_cast<std::uint32_t>(std::countr_one(word >> bit));
            if (length == 0) {
                start = static_cast<HostId>(w * 64) + bit;
            }
            length += ones;
            if (length >= n) {
                return Interval{start, start + n - 1};
            }
            bit += ones;
        }
    }
    return std::nullopt;
}

bool FreeHosts::lie_in_run(Interval interval, std::uint32_t n) const {
    HostId first = interval.first;
    while (first > 0 && interval.last - first + 1 < n) {
        // the free hosts right before it, in the same word
        const std::uint32_t end = (first - 1) % 64 + 1;
        const auto free =
            static_cast<std::uint32_t>(std::countl_one(words_[(first - 1) / 64] << (64 - end)));
        const std::uint32_t length = std::min(free, end);
        first -= length;
        if (length < end) {
            break;
        }
    }
    const HostId limit = std::min(n_hosts_, first + std::max(n, interval.last - first + 1));
    return next(interval.last + 1, limit, false) - first >= n;
}

HostSet FreeHosts::to_host_set() const {
    HostSet set;
    FreeHosts copy = *this;
    copy.take_first(count_, [&](Interval run) { set.append(run); });
    return set;
}

} // namespace noctule
