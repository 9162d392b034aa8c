#include "host_set.hpp"

#include "errors.hpp"

#include <algorithm>
#include <charconv>

namespace noctule {

HostSet HostSet::from_intervals(std::vector<Interval> intervals) {
    const auto touches = [](const Interval& a, const Interval& b) {
        return b.first <= std::size_t{a.last} + 1;
    };
    HostSet set;
    if (std::ranges::adjacent_find(intervals, touches) == intervals.end()) {
        set.intervals_ = std::move(intervals);
        return set;
    }
    std::ranges::sort(intervals, {}, &Interval::first);
    for (const Interval& interval : intervals) {
        auto& known = set.intervals_;
        if (!known.empty() && touches(known.back(), interval)) {
            known.back().last = std::max(known.back().last, interval.last);
        } else {
            known.push_back(interval);
        }
    }
    return set;
}

HostSet HostSet::parse(std::string_view text) {
    const auto refuse = [&]() -> InputError {
        return InputError("hosts: got '" + std::string(text) + "', expected ids such as '0-3 7'");
    };
    std::vector<Interval> intervals;
    intervals.reserve(8);
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto number = [&] {
        HostId value = 0;
        const auto [next, failure] = std::from_chars(at, end, value);
        if (failure != std::errc{}) {
            throw refuse();
        }
        at = next;
        return value;
    };
    while (at != end) {
        if (*at == ' ' || *at == ',') {
            ++at;
            continue;
        }
        const HostId first = number();
        HostId last = first;
        if (at != end && *at == '-') {
            ++at;
            last = number();
        }
        if (last < first || (at != end && *at != ' ' && *at != ',')) {
            throw refuse();
        }
        intervals.push_back({first, last});
    }
    return from_intervals(std::move(intervals));
}

void HostSet::append(Interval interval) {
    if (!intervals_.empty() && intervals_.back().last + 1 == interval.first) {
        intervals_.back().last = interval.last;
    } else {
        intervals_.push_back(interval);
    }
}

std::size_t HostSet::size() const {
    std::size_t total = 0;
    for (const Interval& interval : intervals_) {
        total += interval.size();
    }
    return total;
}

bool HostSet::contains(HostId host) const {
    const auto after = std::ranges::upper_bound(intervals_, host, {}, &Interval::first);
    return after != intervals_.begin() && std::prev(after)->last >= host;
}

std::string HostSet::to_string() const {
    std::string text;
    for (const Interval& interval : intervals_) {
        if (!text.empty()) {
            text += ' ';
        }
        text += std::to_string(interval.first);
        if (interval.last != interval.first) {
            text += '-';
            text += std::to_string(interval.last);
        }
    }
    return text;
}

HostSet HostSet::united(const HostSet& other) const {
    std::vector<Interval> both = intervals_;
    both.insert(both.end(), other.intervals_.begin(), other.intervals_.end());
    return from_intervals(std::move(both));
}

HostSet HostSet::intersected(const HostSet& other) const {
    HostSet set;
    auto mine = intervals_.begin();
    auto theirs = other.intervals_.begin();
    while (mine != intervals_.end() && theirs != other.intervals_.end()) {
        const HostId first = std::max(mine->first, theirs->first);
        const HostId last = std::min(mine->last, theirs->last);
        if (first <= last) {
            set.append({first, last});
        }
        if (mine->last < theirs->last) {
            ++mine;
        } else {
            ++theirs;
        }
    }
    return set;
}

HostSet HostSet::without(const HostSet& other) const {
    HostSet set;
    auto theirs = other.intervals_.begin();
    for (Interval rest : intervals_) {
        while (theirs != other.intervals_.end() && theirs->last < rest.first) {
            ++theirs;
        }
        bool left = true;
        for (auto cut = theirs; left && cut != other.intervals_.end() && cut->first <= rest.last;
             ++cut) {
            if (cut->first > rest.first) {
                set.append({rest.first, cut->first - 1});
            }
            left = cut->last < rest.last;
            rest.first = cut->last + 1;
        }
        if (left) {
            set.append(rest);
        }
    }
    return set;
}

} // namespace noctule
