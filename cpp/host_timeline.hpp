// Free hosts over future time, by name: what conservative backfilling on neighbours plans on.
#pragma once

#include "timeline.hpp"

#include <vector>

namespace noctule {

// Steps lie in flat arrays: a bitmap each, and what is known about it.
class HostTimeline {
  public:
    explicit HostTimeline(std::uint32_t n_hosts);

    void advance(double now);
    Slot earliest(std::uint32_t n_hosts, double walltime);
    bool hasten(std::uint32_t n_hosts, double walltime, Slot& held);
    void take(std::uint32_t n_hosts, const Slot& slot, double from, double to);
    void give(std::uint32_t n_hosts, const Slot& slot, double from, double to);

  private:
    using Words = std::span<std::uint64_t>;

    // The first run of hosts that is free for the walltime; with `held` one that begins before it,
    // where the hosts held from then on count as free.
    Slot first_fit(std::uint32_t n_hosts, double walltime, const Slot* held);

    // Finds the hosts at which a run of n begins in a step; false if there is none.
    bool find_starts(std::size_t step, std::uint32_t n, const Slot* held);

    // The first step from which a run goes on to this one, and where such runs begin.
    std::size_t last_common(std::size_t step);

    Words words(std::size_t step) { return {&words_[step * n_words_], n_words_}; }
    Words starts(std::size_t step) { return {&starts_[step * n_words_], n_words_}; }
    std::uint32_t longest(std::size_t step);
    std::size_t step_at(double time);
    void erase(std::size_t first, std::size_t last);
    void merge(std::size_t step);
    void change(const Interval& hosts, bool free, double from, double to);

    static constexpr std::uint32_t unknown = no_job;

    std::size_t n_words_;
    std::vector<double> times_;          // of the steps; never empty
    std::vector<std::uint32_t> longest_; // hosts of the longest free run of a step, once asked for
    std::vector<std::uint64_t> words_;   // bit h of a step: host h is free
    std::vector<std::uint64_t> starts_;  // the same of where runs begin, during a search
    std::vector<std::uint64_t> common_;  // where runs begin that are free from one step to another
};

} // namespace noctule
