// A set of host ids as sorted disjoint intervals, printed "0-3 7".
#pragma once

#include "types.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace noctule {

struct Interval {
    HostId first;
    HostId last; // inclusive

    bool operator==(const Interval&) const = default;
    std::size_t size() const { return std::size_t{last} - first + 1; }
};

class HostSet {
  public:
    HostSet() = default;

    // Any order, overlaps allowed.
    static HostSet from_intervals(std::vector<Interval> intervals);

    // Throws InputError on anything but ids and ranges separated by blanks or commas.
    static HostSet parse(std::string_view text);

    // Appends an interval that starts after every host of the set.
    void append(Interval interval);

    const std::vector<Interval>& intervals() const { return intervals_; }
    std::size_t size() const;
    bool empty() const { return intervals_.empty(); }
    bool contains(HostId host) const;
    std::string to_string() const;

    HostSet united(const HostSet& other) const;
    HostSet intersected(const HostSet& other) const;
    HostSet without(const HostSet& other) const;

    bool operator==(const HostSet&) const = default;

  private:
    // Sorted, disjoint and not adjacent: equal sets have equal intervals.
    std::vector<Interval> intervals_;
};

} // namespace noctule
