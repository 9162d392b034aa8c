#include "host_timeline.hpp"

#include <algorithm>
#include <bit>

namespace noctule {

namespace {

using Words = std::span<std::uint64_t>;

// Keeps the bits that have a bit `distance` above them.
void keep_followed(Words words, std::uint32_t distance) {
    const std::size_t skipped = distance / 64;
    const std::uint32_t shift = distance % 64;
    const auto at = [&](std::size_t w) { return w < words.size() ? words[w] : 0; };
    for (std::size_t w = 0; w < words.size(); ++w) {
        std::uint64_t above = at(w + skipped) >> shift;
        if (shift != 0) {
            above |= at(w + skipped + 1) << (64 - shift);
        }
        words[w] &= above;
    }
}

// Keeps the bits at which a run of n begins; returns whether there is one.
bool keep_starts(Words words, std::uint32_t n) {
    for (std::uint32_t length = 1; length < n;) {
        const std::uint32_t added = std::min(length, n - length);
        keep_followed(words, added);
        length += added;
    }
    return std::ranges::any_of(words, [](std::uint64_t word) { return word != 0; });
}

// Intersects; returns whether anything is left.
bool keep_common(Words words, Words others) {
    std::uint64_t any = 0;
    for (std::size_t w = 0; w < words.size(); ++w) {
        any |= words[w] &= others[w];
    }
    return any != 0;
}

void set(Words words, const Interval& hosts, bool free) {
    for (std::size_t w = hosts.first / 64; w <= hosts.last / 64; ++w) {
        std::uint64_t mask = ~std::uint64_t{0};
        if (w == hosts.first / 64) {
            mask &= ~std::uint64_t{0} << (hosts.first % 64);
        }
        if (w == hosts.last / 64) {
            mask &= ~std::uint64_t{0} >> (63 - hosts.last % 64);
        }
        words[w] = free ? words[w] | mask : words[w] & ~mask;
    }
}

std::uint32_t longest_run(Words words) {
    std::uint32_t longest = 0;
    std::uint32_t length = 0; // of the run that reaches the present bit
    for (const std::uint64_t word : words) {
        for (std::uint32_t bit = 0; bit < 64;) {
            const auto ones = static_cast<std::uint32_t>(std::countr_one(word >> bit));
            length += ones;
            longest = std::max(longest, length);
            bit += ones;
            if (bit < 64) {
                length = 0;
                const std::uint64_t rest = word >> bit;
                bit += rest == 0 ? 64 : static_cast<std::uint32_t>(std::countr_zero(rest));
            }
        }
    }
    return longest;
}

HostId lowest(Words words) {
    std::size_t w = 0;
    while (words[w] == 0) {
        ++w;
    }
    return static_cast<HostId>(w * 64) + static_cast<HostId>(std::countr_zero(words[w]));
}

} // namespace

HostTimeline::HostTimeline(std::uint32_t n_hosts)
    : n_words_((n_hosts + 63) / 64), times_{0.0}, longest_{n_hosts}, words_(n_words_) {
    if (n_hosts > 0) {
        set(words(0), {0, n_hosts - 1}, true);
    }
}

void HostTimeline::advance(double now) {
    if (now > times_.front()) {
        const auto after = std::ranges::upper_bound(times_, now);
        erase(0, static_cast<std::size_t>(after - times_.begin()) - 1);
        times_.front() = now;
    }
}

Slot HostTimeline::earliest(std::uint32_t n_hosts, double walltime) {
    return first_fit(n_hosts, walltime, nullptr);
}

// A run of n that is free in two steps begins where one begins in both: a window of time is the
// intersection of those beginnings. A step with none of them is a wall.
Slot HostTimeline::first_fit(std::uint32_t n_hosts, double walltime, const Slot* held) {
    const double before = held != nullptr ? held->start : infinity;
    starts_.resize(words_.size());
    common_.resize(n_words_);
    std::size_t first = 0; // of the window, whose last step is the one before `step`
    for (std::size_t step = 0; first < times_.size() && times_[first] < before; ++step) {
        const bool over = step == times_.size() || times_[step] >= times_[first] + walltime;
        if (over && step > first) {
            const HostId host = lowest(common_);
            return {.start = times_[first], .hosts = {host, host + n_hosts - 1}};
        }
        if (!find_starts(step, n_hosts, held)) {
            first = step + 1;
        } else if (step == first) {
            std::ranges::copy(starts(step), common_.begin());
        } else if (!keep_common(common_, starts(step))) {
            first = last_common(step);
        }
    }
    return {};
}

bool HostTimeline::find_starts(std::size_t step, std::uint32_t n, const Slot* held) {
    // A window that begins before the held slot ends before it, too: what is held from a step on is
    // held to the end of the window.
    const bool holds = held != nullptr && times_[step] >= held->start;
    if (!holds && longest(step) < n) {
        return false;
    }
    const Words found = starts(step);
    std::ranges::copy(words(step), found.begin());
    if (holds) {
        set(found, held->hosts, true);
    }
    return keep_starts(found, n);
}

std::size_t HostTimeline::last_common(std::size_t step) {
    std::ranges::copy(starts(step), common_.begin());
    const auto goes_on = [&](std::size_t earlier) {
        std::uint64_t any = 0;
        for (std::size_t w = 0; w < n_words_; ++w) {
            any |= common_[w] & starts(earlier)[w];
        }
        return any != 0;
    };
    while (goes_on(step - 1)) {
        --step;
        keep_common(common_, starts(step));
    }
    return step;
}

bool HostTimeline::hasten(std::uint32_t n_hosts, double walltime, Slot& held) {
    const Slot slot = first_fit(n_hosts, walltime, &held);
    if (slot.start >= held.start) {
        return false;
    }
    const double end = slot.start + walltime;
    if (slot.hosts == held.hosts) {
        change(held.hosts, false, slot.start, std::min(end, held.start));
        change(held.hosts, true, std::max(end, held.start), held.start + walltime);
    } else {
        change(held.hosts, true, held.start, held.start + walltime);
        change(slot.hosts, false, slot.start, end);
    }
    held = slot;
    return true;
}

void HostTimeline::take(std::uint32_t, const Slot& slot, double from, double to) {
    change(slot.hosts, false, from, to);
}

void HostTimeline::give(std::uint32_t, const Slot& slot, double from, double to) {
    change(slot.hosts, true, from, to);
}

std::uint32_t HostTimeline::longest(std::size_t step) {
    if (longest_[step] == unknown) {
        longest_[step] = longest_run(words(step));
    }
    return longest_[step];
}

// The step that begins at this time, made if there is none.
std::size_t HostTimeline::step_at(double time) {
    const auto after = std::ranges::upper_bound(times_, time);
    const auto step = static_cast<std::size_t>(after - times_.begin());
    if (*(after - 1) == time) {
        return step - 1;
    }
    const auto place = static_cast<std::ptrdiff_t>(step);
    times_.insert(after, time);
    longest_.insert(longest_.begin() + place, longest_[step - 1]);
    words_.insert(words_.begin() + place * static_cast<std::ptrdiff_t>(n_words_), n_words_, 0);
    std::ranges::copy(words(step - 1), words(step).begin());
    return step;
}

void HostTimeline::erase(std::size_t first, std::size_t last) {
    const auto cut = [](auto& all, std::size_t from, std::size_t to) {
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(from),
                  all.begin() + static_cast<std::ptrdiff_t>(to));
    };
    cut(times_, first, last);
    cut(longest_, first, last);
    cut(words_, first * n_words_, last * n_words_);
}

void HostTimeline::merge(std::size_t step) {
    if (step > 0 && step < times_.size() && std::ranges::equal(words(step), words(step - 1))) {
        erase(step, step + 1);
    }
}

// Changes what is free in [from, to); the part before the beginning is left out.
void HostTimeline::change(const Interval& hosts, bool free, double from, double to) {
    from = std::max(from, times_.front());
    if (from >= to) {
        return;
    }
    const std::size_t begin = step_at(from);
    const std::size_t end = to == infinity ? times_.size() : step_at(to);
    for (std::size_t step = begin; step < end; ++step) {
        set(words(step), hosts, free);
        longest_[step] = unknown;
    }
    merge(end);
    merge(begin);
}

} // namespace noctule
