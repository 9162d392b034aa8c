// Arrays, heaps and packed sets of hosts against what the standard library makes of the same.
#include "event_queue.hpp"
#include "host_archive.hpp"
#include "tests/checks.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace noctule {

namespace {

void plain_arrays_are_vectors() {
    Random random(1);
    PlainArray<std::uint32_t> array;
    std::vector<std::uint32_t> naive;
    for (int step = 0; step < 2000; ++step) {
        if (!naive.empty() && draw(random, 0, 4) == 0) {
            array.pop_back();
            naive.pop_back();
        } else {
            array.push_back(static_cast<std::uint32_t>(step));
            naive.push_back(static_cast<std::uint32_t>(step));
        }
        CHECK(array.size() == naive.size() && array.empty() == naive.empty());
    }
    PlainArray<std::uint32_t> copy(array);
    array[0] = 7;
    CHECK(std::ranges::equal(copy, naive));
    copy = std::move(array);
    CHECK(copy[0] == 7 && copy.back() == naive.back());
    copy.truncate(1);
    CHECK(copy.size() == 1);
    CHECK(PlainArray<int>(PlainArray<int>()).empty());
}

void events_come_by_time_then_rank_then_as_added() {
    Random random(5);
    struct Naive {
        double time;
        EventRank rank;
        std::uint32_t number;
        auto operator<=>(const Naive&) const = default;
    };
    EventQueue queue;
    std::vector<Naive> naive;
    for (std::uint32_t number = 0; number < 5000; ++number) {
        const Naive added{draw(random, 0, 40) / 4.0, static_cast<EventRank>(draw(random, 0, 10)),
                          number};
        queue.add(added.time, added.rank, number);
        naive.push_back(added);
        for (std::uint32_t n = draw(random, 0, 2); n > 0 && !naive.empty(); --n) {
            const auto first = std::ranges::min_element(naive);
            CHECK(queue.next().time == first->time && queue.next().rank() == first->rank);
            CHECK(queue.pop().subject == first->number);
            naive.erase(first);
            CHECK(queue.size() == naive.size());
        }
    }
}

// Sets from none to so many runs that they fill blocks of their own.
void archives_give_back_what_they_keep() {
    Random random(6);
    HostArchive archive;
    std::vector<std::pair<ArchivedHosts, std::vector<Interval>>> kept;
    for (const std::uint32_t n_runs : {0U, 1U, 3U, 200U, 0U, 90'000U, 2U, 150'000U, 1U}) {
        archive.begin();
        archive.add({5, 5}); // forgotten
        archive.begin();
        std::vector<Interval> runs;
        HostId next = 0;
        for (std::uint32_t i = 0; i < n_runs; ++i) {
            const HostId first = next + draw(random, 0, 300);
            runs.push_back({first, first + draw(random, 0, 200)});
            archive.add(runs.back());
            next = runs.back().last + 2;
        }
        kept.emplace_back(archive.keep(), runs);
    }
    archive.begin();
    archive.add({0, std::numeric_limits<HostId>::max() - 1});
    kept.push_back({archive.keep(), {{0, std::numeric_limits<HostId>::max() - 1}}});
    for (const auto& [set, runs] : kept) {
        std::vector<Interval> found;
        archive.for_each(set, [&](Interval run) { found.push_back(run); });
        CHECK(std::ranges::equal(found, runs, [](const Interval& a, const Interval& b) {
            return a.first == b.first && a.last == b.last;
        }));
    }
}

} // namespace

void test_arrays() {
    plain_arrays_are_vectors();
    events_come_by_time_then_rank_then_as_added();
    archives_give_back_what_they_keep();
}

} // namespace noctule
