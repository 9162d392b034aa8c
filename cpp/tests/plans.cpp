// Groups of hosts, and the timelines that reservations are made on, against naive versions.
#include "host_plan.hpp"
#include "host_timeline.hpp"
#include "tests/checks.hpp"

#include <algorithm>

namespace noctule {

namespace {

void timelines_find_the_first_fit() {
    Random random(4);
    for (int round = 0; round < 200; ++round) {
        constexpr std::uint32_t n_hosts = 6;
        constexpr int horizon = 60;
        CountTimeline counts(n_hosts);
        HostTimeline hosts(n_hosts);
        std::vector<std::set<HostId>> busy(horizon * 4); // by second
        for (int i = 0; i < 12; ++i) {
            const std::uint32_t n = draw(random, 1, n_hosts);
            const double walltime = draw(random, 1, 9);
            const Slot slot = hosts.earliest(n, walltime);
            const auto begin = static_cast<std::size_t>(slot.start);
            bool earlier = false;
            for (std::size_t start = 0; start < begin && !earlier; ++start) {
                for (HostId first = 0; first + n <= n_hosts && !earlier; ++first) {
                    bool free = true;
                    for (std::size_t t = start; t < start + static_cast<std::size_t>(walltime);
                         ++t) {
                        for (HostId host = first; host < first + n; ++host) {
                            free = free && !busy[t].contains(host);
                        }
                    }
                    earlier = free;
                }
            }
            CHECK(!earlier);
            std::size_t fit = 0; // by counting alone
            for (bool free = false; !free; fit += free ? 0 : 1) {
                free = true;
                for (std::size_t t = fit; t < fit + static_cast<std::size_t>(walltime); ++t) {
                    free = free && busy[t].size() + n <= n_hosts;
                }
            }
            CHECK(counts.earliest(n, walltime).start == static_cast<double>(fit));
            hosts.take(n, slot, slot.start, slot.start + walltime);
            counts.take(n, slot, slot.start, slot.start + walltime);
            for (std::size_t t = begin; t < begin + static_cast<std::size_t>(walltime); ++t) {
                for (HostId host = slot.hosts.first; host <= slot.hosts.last; ++host) {
                    CHECK(busy[t].insert(host).second);
                }
            }
        }
    }
}

// Without lifting, a job moves to where it would have gone after lifting.
template <typename Timeline, typename Same>
void jobs_hasten_to_the_earliest_slot(const Timeline& empty, std::uint32_t most, Same&& same) {
    Random random(8);
    for (int round = 0; round < 300; ++round) {
        Timeline timeline = empty;
        Timeline lifted = empty;
        struct Held {
            std::uint32_t n;
            double walltime;
            Slot slot;
        };
        std::vector<Held> held;
        for (int i = 0; i < 12; ++i) {
            Held job{draw(random, 1, most), static_cast<double>(draw(random, 1, 9)), {}};
            job.slot = timeline.earliest(job.n, job.walltime);
            for (Timeline* t : {&timeline, &lifted}) {
                t->take(job.n, job.slot, job.slot.start, job.slot.start + job.walltime);
            }
            held.push_back(job);
        }
        const double now = draw(random, 0, 3);
        timeline.advance(now);
        lifted.advance(now);
        const Held gone = held.front(); // ends early
        for (Timeline* t : {&timeline, &lifted}) {
            t->give(gone.n, gone.slot, now, gone.slot.start + gone.walltime);
        }
        for (std::size_t i = 1; i < held.size(); ++i) {
            Held& job = held[i];
            if (job.slot.start < now) {
                continue;
            }
            Slot expected = job.slot;
            lifted.give(job.n, expected, expected.start, expected.start + job.walltime);
            const Slot found = lifted.earliest(job.n, job.walltime);
            if (found.start < expected.start) {
                expected = found;
            }
            lifted.take(job.n, expected, expected.start, expected.start + job.walltime);
            const double before = job.slot.start;
            CHECK(timeline.hasten(job.n, job.walltime, job.slot) == (found.start < before));
            CHECK(job.slot.start == expected.start && same(job.slot, expected));
        }
    }
}

void jobs_hasten_on_every_timeline() {
    jobs_hasten_to_the_earliest_slot(CountTimeline(7), 7,
                                     [](const Slot&, const Slot&) { return true; });
    const std::vector<std::uint32_t> groups{0, 1, 0, 2, 2, 1, 0, 2, 0};
    jobs_hasten_to_the_earliest_slot(
        GroupTimeline(Hierarchy(9, groups)), 4,
        [](const Slot& a, const Slot& b) { return a.group == b.group; });
    const auto same_hosts = [](const Slot& a, const Slot& b) { return a.hosts == b.hosts; };
    jobs_hasten_to_the_earliest_slot(HostTimeline(7), 7, same_hosts);
    jobs_hasten_to_the_earliest_slot(HostTimeline(150), 140, same_hosts);
}

void free_hosts_are_found_among_others() {
    Random random(11);
    for (int round = 0; round < 300; ++round) {
        const std::uint32_t n_hosts = draw(random, 1, 200);
        const std::uint32_t n_groups = draw(random, 1, 4);
        std::vector<std::uint32_t> group_of(n_hosts);
        FreeHosts free(n_hosts);
        for (HostId host = 0; host < n_hosts; ++host) {
            group_of[host] = draw(random, 10, 9 + n_groups) * (round % 2 == 0 ? 1 : host / 50);
            if (draw(random, 0, 2) == 0) {
                free.take({host, host});
            }
        }
        const Hierarchy hierarchy(n_hosts, group_of);
        const std::uint32_t wanted = draw(random, 1, n_hosts / 2 + 1);
        std::optional<Hierarchy::Group> first;
        std::uint32_t total = 0;
        HostId lowest_before = 0;
        for (Hierarchy::Group group = 0; group < hierarchy.n_groups(); ++group) {
            const std::set<HostId> hosts = members(hierarchy.hosts(group));
            CHECK(group == 0 || *hosts.begin() > lowest_before);
            lowest_before = *hosts.begin();
            std::set<HostId> there;
            for (const HostId host : hosts) {
                CHECK(group_of[host] == group_of[*hosts.begin()]);
                if (free.contains(host)) {
                    there.insert(host);
                }
            }
            total += hierarchy.size(group);
            CHECK(free.count(hierarchy.hosts(group)) == there.size());
            if (there.size() >= wanted) {
                const auto end = std::next(there.begin(), wanted);
                CHECK(members(free.first_of(hierarchy.hosts(group), wanted)) ==
                      std::set<HostId>(there.begin(), end));
                first = first ? first : group;
            }
        }
        CHECK(total == n_hosts);
        CHECK(hierarchy.find(free, wanted) == first);
    }
}

// By the second: which hosts a job may have from a date on, for as long as it may run.
std::set<HostId> open_hosts(const std::vector<std::set<HostId>>& busy,
                            const std::vector<TimeWindow>& windows, std::size_t start,
                            std::size_t walltime, WindowIndex own) {
    std::set<HostId> hosts;
    for (HostId host = 0; host < 6; ++host) {
        bool open = own == no_window || windows[own].hosts.contains(host);
        for (std::size_t t = start; t < start + walltime; ++t) {
            open = open && !busy[t].contains(host);
            const auto date = static_cast<double>(t);
            for (WindowIndex w = 0; w < windows.size(); ++w) {
                const bool inside = date >= windows[w].from && date < windows[w].to;
                open = open && (w == own ? inside : !inside || !windows[w].hosts.contains(host));
            }
        }
        if (open) {
            hosts.insert(host);
        }
    }
    return hosts;
}

void plans_by_name_find_the_first_open_place() {
    using Kind = TimeWindow::Kind;
    Random random(6);
    for (int round = 0; round < 300; ++round) {
        constexpr std::uint32_t n_hosts = 6;
        constexpr std::size_t horizon = 200;
        const Hierarchy hierarchy(n_hosts, {});
        std::vector<TimeWindow> windows;
        for (std::uint32_t w = 0; w < draw(random, 0, 3); ++w) {
            const HostId first = draw(random, 0, n_hosts - 1);
            const double from = draw(random, 0, 30);
            windows.push_back({w == 0 ? Kind::reservation : Kind::maintenance,
                               HostSet::from_intervals({{first, draw(random, first, n_hosts - 1)}}),
                               from, from + draw(random, 1, 20)});
            windows.back().phase = TimeWindow::Phase::announced;
        }
        HostPlan plan(0.0, hierarchy, n_hosts, windows, Allocation::first);
        std::vector<std::set<HostId>> busy(horizon);
        for (int i = 0; i < 10; ++i) {
            const bool reserved = !windows.empty() && draw(random, 0, 3) == 0;
            const WindowIndex own = reserved ? 0 : no_window;
            const std::uint32_t n = draw(random, 1, n_hosts);
            const std::size_t walltime = draw(random, 1, 9);
            const HostPlan::Place place = plan.earliest({n, static_cast<double>(walltime), own});
            std::size_t start = 0;
            std::set<HostId> open;
            for (; start + walltime < horizon && open.size() < n; ++start) {
                open = open_hosts(busy, windows, start, walltime, own);
            }
            if (open.size() < n) {
                CHECK(place.hosts.empty());
                continue;
            }
            --start;
            CHECK(place.start == static_cast<double>(start));
            CHECK(members(place.hosts) ==
                  std::set<HostId>(open.begin(), std::next(open.begin(), n)));
            plan.take(place.hosts, place.start, place.start + static_cast<double>(walltime));
            for (std::size_t t = start; t < start + walltime; ++t) {
                busy[t].merge(members(place.hosts));
            }
        }
    }
}

} // namespace

void test_plans() {
    plans_by_name_find_the_first_open_place();
    timelines_find_the_first_fit();
    jobs_hasten_on_every_timeline();
    free_hosts_are_found_among_others();
}

} // namespace noctule
