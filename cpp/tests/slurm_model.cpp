// Sets of nodes, the choice of runs, the plan of backfilling and the clocks: by hand, and against
// their most naive versions.
#include "slurm/best_fit.hpp"
#include "slurm/clocks.hpp"
#include "slurm/ends.hpp"
#include "slurm/known_counts.hpp"
#include "slurm/node_space.hpp"
#include "slurm/tree_fit.hpp"
#include "tests/checks.hpp"

#include <map>

namespace noctule {

namespace {

using namespace slurm;
using Plain = std::set<NodeIndex>;

Plain plain(const NodeSet& nodes) {
    Plain found;
    nodes.for_each([&](NodeIndex node) { found.insert(node); });
    return found;
}

NodeSet set_of(std::uint32_t n_nodes, const Plain& members) {
    NodeSet nodes(n_nodes);
    for (const NodeIndex node : members) {
        nodes.add(node);
    }
    return nodes;
}

Plain draw_members(Random& random, std::uint32_t n_nodes) {
    Plain members;
    const std::uint32_t density = draw(random, 1, 9);
    for (NodeIndex node = 0; node < n_nodes; ++node) {
        if (draw(random, 0, 9) < density) {
            members.insert(node);
        }
    }
    return members;
}

void node_sets_are_sets() {
    Random random(1);
    for (int i = 0; i < 300; ++i) {
        const std::uint32_t n = draw(random, 1, 300);
        const Plain a = draw_members(random, n);
        const Plain b = draw_members(random, n);
        const NodeSet one = set_of(n, a);
        const NodeSet other = set_of(n, b);
        Plain both;
        Plain either = a;
        Plain only;
        for (NodeIndex node = 0; node < n; ++node) {
            if (a.contains(node) && b.contains(node)) {
                both.insert(node);
            }
            if (b.contains(node)) {
                either.insert(node);
            }
            if (a.contains(node) && !b.contains(node)) {
                only.insert(node);
            }
        }
        CHECK(plain(one & other) == both && plain(one | other) == either);
        CHECK(plain(one - other) == only && one.count() == a.size());
        CHECK(one.count_common(other) == both.size() && one.intersects(other) == !both.empty());
        CHECK(one.contains(other) == (both == b) && one.empty() == a.empty());
        Plain again;
        NodeIndex end = 0;
        one.for_each_run([&](NodeRun run) {
            CHECK(again.empty() || run.first > end);
            end = run.first + run.size;
            for (NodeIndex node = run.first; node < end; ++node) {
                again.insert(node);
            }
        });
        CHECK(again == a);
        CHECK(SparseNodes(one).count_common(other) == both.size());
    }
}

// The choice as the specification tells it, for nodes that are all alike.
std::optional<Plain> naive_choice(const Plain& offered, std::uint32_t n) {
    if (offered.size() < n) {
        return std::nullopt;
    }
    std::vector<std::vector<NodeIndex>> runs;
    for (const NodeIndex node : offered) {
        if (runs.empty() || runs.back().back() + 1 != node) {
            runs.emplace_back();
        }
        runs.back().push_back(node);
    }
    Plain chosen;
    while (chosen.size() < n) {
        const std::size_t left = n - chosen.size();
        std::size_t best = runs.size();
        for (std::size_t i = 0; i < runs.size(); ++i) {
            const bool enough = runs[i].size() >= left;
            const bool best_is = best < runs.size() && runs[best].size() >= left;
            if (runs[i].empty()) {
                continue;
            }
            if (best == runs.size() || (enough && !best_is) ||
                (enough && runs[i].size() < runs[best].size()) ||
                (!enough && !best_is && runs[i].size() > runs[best].size())) {
                best = i;
            }
        }
        for (const NodeIndex node : runs[best]) {
            if (chosen.size() < n) {
                chosen.insert(node);
            }
        }
        runs[best].clear();
    }
    return chosen;
}

void the_tightest_run_is_chosen() {
    Random random(2);
    for (int i = 0; i < 500; ++i) {
        const std::uint32_t n_nodes = draw(random, 1, 150);
        const std::vector<Node> nodes(n_nodes, Node{.cpus = 4});
        BestFit fit(nodes);
        const Plain offered = draw_members(random, n_nodes);
        const std::uint32_t n = draw(random, 1, n_nodes);
        NodeSet chosen(n_nodes);
        const bool found = fit.choose(set_of(n_nodes, offered), {n, n, n, std::int64_t{n}}, chosen);
        const std::optional<Plain> expected = naive_choice(offered, n);
        CHECK(found == expected.has_value());
        CHECK(!found || plain(chosen) == *expected);
    }
}

void needs_of_special_kinds_are_met() {
    // Nodes 0-2, 4-5 and 7-9 are free.
    const std::vector<Node> alike(10, Node{.cpus = 2});
    BestFit fit(alike);
    const NodeSet offered = set_of(10, {0, 1, 2, 4, 5, 7, 8, 9});
    NodeSet chosen(10);
    CHECK(fit.choose(offered, {2, 2, 2, 2}, chosen) && plain(chosen) == Plain({4, 5}));
    CHECK(fit.choose(offered, {4, 4, 4, 4}, chosen) && plain(chosen) == Plain({0, 1, 2, 4}));
    CHECK(fit.choose(offered, {3, 3, 3, 3, true}, chosen) && plain(chosen) == Plain({0, 1, 2}));
    CHECK(!fit.choose(offered, {4, 4, 4, 4, true}, chosen));
    // -N 7-9 asks for nine and accepts seven; -N 9 does not.
    CHECK(fit.choose(offered, {7, 9, 9, 7}, chosen) && chosen.count() == 8);
    CHECK(!fit.choose(offered, {9, 9, 9, 9}, chosen));
    // A required node: from it upwards, then downwards.
    const NodeSet required = set_of(10, {8});
    CHECK(fit.choose(offered, {3, 3, 3, 3, false, &required}, chosen) &&
          plain(chosen) == Plain({7, 8, 9}));
    const NodeSet busy = set_of(10, {3});
    CHECK(!fit.choose(offered, {1, 1, 1, 1, false, &busy}, chosen));
    // CPUs that two small nodes do not have: the largest nodes first.
    std::vector<Node> mixed(10, Node{.cpus = 2});
    mixed[5].cpus = mixed[9].cpus = 8;
    BestFit other(mixed);
    CHECK(other.choose(offered, {2, 2, 2, 10}, chosen) && plain(chosen) == Plain({5, 9}));
    CHECK(!other.choose(offered, {2, 2, 2, 17}, chosen));
    // Then the last of the small ones; a required node counts first; where those offered are all
    // alike, the tightest run.
    CHECK(other.choose(offered, {1, 1, 9, 18}, chosen) && plain(chosen) == Plain({5, 8, 9}));
    CHECK(other.choose(offered, {1, 1, 9, 9, false, &required}, chosen) &&
          plain(chosen) == Plain({8, 9}));
    const NodeSet small = set_of(10, {0, 1, 2, 7, 8});
    CHECK(other.choose(small, {1, 1, 9, 4}, chosen) && plain(chosen) == Plain({7, 8}));
}

void nodes_below_one_switch_are_chosen() {
    // Leaves of four, two and four nodes below one switch; node 9 has more CPUs.
    std::vector<Node> nodes(10, Node{.cpus = 2});
    nodes[9].cpus = 8;
    const std::vector<Settings::Switch> switches = {{set_of(10, {0, 1, 2, 3}), 0, 3},
                                                    {set_of(10, {4, 5}), 0, 3},
                                                    {set_of(10, {6, 7, 8, 9}), 0, 3},
                                                    {NodeSet(10, true), 1}};
    TreeFit fit(nodes, switches);
    const NodeSet offered = set_of(10, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    NodeSet chosen(10);
    // The leaf with the fewest nodes that are enough.
    CHECK(fit.choose(offered, {2, 2, 2, 2}, chosen) && plain(chosen) == Plain({4, 5}));
    CHECK(fit.choose(offered, {3, 3, 3, 3}, chosen) && plain(chosen) == Plain({1, 2, 3}));
    CHECK(fit.choose(offered, {3, 3, 4, 7}, chosen) && plain(chosen) == Plain({6, 7, 8, 9}));
    CHECK(!fit.choose(offered, {3, 3, 3, 7}, chosen)); // the first three have six
    // No leaf is enough: of those with enough CPUs the smallest, and so on; else the largest.
    CHECK(fit.choose(offered, {5, 5, 5, 4}, chosen) && plain(chosen) == Plain({1, 2, 3, 4, 5}));
    CHECK(fit.choose(offered, {5, 5, 5, 5}, chosen) && plain(chosen) == Plain({1, 2, 3, 4, 5}));
    CHECK(fit.choose(offered, {5, 5, 5, 15}, chosen) && plain(chosen) == Plain({4, 6, 7, 8, 9}));
    CHECK(!fit.choose(offered, {10, 10, 10, 10}, chosen));
    CHECK(fit.choose(offered, {3, 10, 10, 3}, chosen) && plain(chosen) == Plain({1, 2, 3}));
    // Others of the leaf of a required node.
    const NodeSet required = set_of(10, {2});
    CHECK(fit.choose(offered, {2, 2, 2, 2, false, &required}, chosen) &&
          plain(chosen) == Plain({1, 2}));
    const NodeSet busy = set_of(10, {0});
    CHECK(!fit.choose(offered, {1, 1, 1, 1, false, &busy}, chosen));
}

// Whether a node of some is in one set, but not in another.
bool any_in(const Plain& some, const Plain& one, const Plain& other) {
    return std::ranges::any_of(
        some, [&](NodeIndex node) { return one.contains(node) && !other.contains(node); });
}

// Neighbours differ by as many nodes as they say.
void check_stretches(const NodeSpace& space, const std::vector<Plain>& minutes) {
    const std::vector<NodeSpace::Stretch>& stretches = space.stretches();
    for (std::size_t k = 0; k < stretches.size(); ++k) {
        const NodeSet& nodes = space.nodes(stretches[k]);
        CHECK(plain(nodes) == minutes[static_cast<std::size_t>(stretches[k].begin / 60)]);
        CHECK(stretches[k].n_usable == nodes.count());
        if (k + 1 < stretches.size()) {
            const NodeSet& next = space.nodes(stretches[k + 1]);
            CHECK(stretches[k].end == stretches[k + 1].begin);
            CHECK(stretches[k].n_more == (next - nodes).count());
            CHECK(stretches[k].n_fewer == (nodes - next).count());
        }
    }
}

// A plan as one set of nodes for every minute.
void plans_take_nodes_away_for_a_time() {
    Random random(3);
    constexpr Seconds minute = 60;
    constexpr Seconds n_minutes = 60;
    constexpr std::uint32_t n_nodes = 70;
    for (int i = 0; i < 60; ++i) {
        NodeSpace space;
        space.reset(0, n_minutes * minute, NodeSet(n_nodes, true));
        std::vector<Plain> naive(n_minutes);
        for (Plain& nodes : naive) {
            nodes = plain(NodeSet(n_nodes, true));
        }
        for (int step = 0; step < 12; ++step) {
            const Seconds from = draw(random, 0, 50);
            const Seconds to = from + draw(random, 1, 9);
            const Plain taken = draw_members(random, n_nodes);
            space.reserve(from * minute, to * minute, set_of(n_nodes, taken));
            for (Seconds m = from; m < to; ++m) {
                std::erase_if(naive[static_cast<std::size_t>(m)],
                              [&](NodeIndex node) { return taken.contains(node); });
            }
            const Seconds start = draw(random, 0, 3500);
            const Seconds end = start + draw(random, 1, 1500);
            const Plain among = draw_members(random, n_nodes);
            NodeSet found(n_nodes);
            space.usable(set_of(n_nodes, among), start, end, 0, found);
            Plain expected = among;
            Seconds more = 0;
            for (Seconds m = 0; m < n_minutes; ++m) {
                const Plain& now = naive[static_cast<std::size_t>(m)];
                if (m * minute > start && more == 0 &&
                    any_in(among, now, naive[static_cast<std::size_t>(m - 1)])) {
                    more = m * minute;
                }
                if ((m + 1) * minute > start && m * minute <= end) {
                    std::erase_if(expected, [&](NodeIndex node) { return !now.contains(node); });
                }
            }
            // Where minutes are alike they are one stretch: one that begins at the end counts.
            CHECK(plain(found) == expected);
            CHECK(space.is_free(start, end, found));
            CHECK(space.more_from(set_of(n_nodes, among), start, n_minutes * minute) == more);
            const NodeSet all(n_nodes, true);
            CHECK(space.is_within(all) &&
                  space.more_from(start, end) == space.more_from(all, start, end));
        }
        check_stretches(space, naive);
    }
}

void plans_tell_when_more_nodes_are_free() {
    NodeSpace space;
    space.reset(0, 6000, NodeSet(4, true));
    space.reserve(600, 1200, set_of(4, {0, 1}));
    space.reserve(1200, 1800, set_of(4, {1, 2}));
    NodeSet found(4);
    const NodeSet all(4, true);
    const auto count = [&](Seconds start, Seconds end) {
        space.usable(all, start, end, 0, found);
        return found.count();
    };
    // From 0 to 599 nothing is in the way; from 0 to 600 the first plan still counts. More than
    // are left within the first plan is free after it.
    CHECK(space.more_from(all, 0, 599) == 1200 && count(0, 599) == 4);
    CHECK(space.more_from(all, 0, 600) == 1200 && count(0, 600) == 2);
    CHECK(space.more_from(all, 700, 1300) == 1200 && count(700, 1300) == 1);
    CHECK(space.more_from(all, 1800, 3000) == 0 && count(1800, 3000) == 4);
    CHECK(space.more_from(set_of(4, {2}), 700, 1300) == 1800); // node 0 does not count
    CHECK(space.n_records() == 4);
}

void plans_use_up_records_as_slurms_table_does() {
    NodeSpace space;
    space.reset(0, 6000, NodeSet(4, true));
    CHECK(space.n_records() == 1);
    // From the very beginning: a record of no length stays before it, and one comes after it.
    space.reserve(0, 600, set_of(4, {0}));
    CHECK(space.n_records() == 3 && space.stretches().size() == 2);
    space.reserve(0, 600, set_of(4, {1}));
    CHECK(space.n_records() == 3);
    space.reserve(1200, 1800, set_of(4, {2}));
    CHECK(space.n_records() == 5 && space.stretches().size() == 4);
    // The first and the second stretch become one, and so do the third and the fourth; but only
    // one pair is merged at a time, the other with the next plan beside it.
    space.reserve(600, 1200, set_of(4, {0, 1}));
    CHECK(space.n_records() == 5 && space.stretches().size() == 3);
    space.reserve(1800, 6000, set_of(4, {2}));
    space.reserve(0, 1200, set_of(4, {2}));
    CHECK(space.n_records() == 5 && space.stretches().size() == 2);
    space.reserve(1200, 6000, set_of(4, {0, 1}));
    CHECK(space.stretches().size() == 1);
}

void ends_give_nodes_back_in_order() {
    Random random(5);
    constexpr std::uint32_t n_nodes = 70;
    std::map<std::pair<Seconds, JobIndex>, SparseNodes> running;
    ExpectedEnds ends(n_nodes);
    for (JobIndex job = 0; job < 200; ++job) {
        if (!running.empty() && draw(random, 0, 2) == 0) {
            const auto gone = std::next(
                running.begin(), draw(random, 0, 9) % static_cast<std::ptrdiff_t>(running.size()));
            ends.remove(gone->first.first, gone->first.second);
            running.erase(gone);
        }
        const std::pair key{Seconds{draw(random, 0, 50)}, job};
        const auto at =
            running.emplace(key, SparseNodes(set_of(n_nodes, draw_members(random, n_nodes)))).first;
        ends.add({key.first, job, &at->second});
        const Seconds date = draw(random, 0, 50);
        NodeSet expected(n_nodes);
        std::size_t n = 0;
        for (const auto& [end_and_job, nodes] : running) {
            if (end_and_job.first <= date) {
                nodes.add_to(expected);
                ++n;
            }
        }
        CHECK(ends.n_by(date) == n);
        CHECK(n == 0 || ends.nodes_of_first(n) == expected);
    }
}

void known_counts_hold_for_longer_and_earlier() {
    KnownCounts known;
    known.note(3, 0, 600, 120, 900); // three nodes at 600, for two minutes, free by 900
    CHECK(known.are_below(4, 0, 600, 120, 900));
    CHECK(known.are_below(5, 0, 600, 180, 840));
    CHECK(!known.are_below(3, 0, 600, 120, 900)); // three are enough
    CHECK(!known.are_below(4, 0, 600, 60, 900));  // shorter
    CHECK(!known.are_below(4, 0, 600, 120, 960)); // more may be free by then
    CHECK(!known.are_below(4, 1, 600, 120, 900) && !known.are_below(4, 0, 660, 120, 900));
    known.clear();
    CHECK(!known.are_below(4, 0, 600, 120, 900));
}

void known_counts_of_many_dates_and_partitions_stay_apart() {
    KnownCounts known;
    const auto most = [](std::uint32_t partition, Seconds date) {
        return partition + static_cast<std::uint32_t>(date / 60 % 7);
    };
    for (int pass = 0; pass < 2; ++pass, known.clear()) {
        for (std::uint32_t partition = 0; partition < 3; ++partition) {
            for (Seconds date = 0; date < 60 * 500; date += 60) {
                CHECK(!known.are_below(100, partition, date, 60, 0));
                known.note(most(partition, date), partition, date, 60, 0);
            }
        }
        for (std::uint32_t partition = 0; partition < 3; ++partition) {
            for (Seconds date = 0; date < 60 * 500; date += 60) {
                const std::uint32_t n = most(partition, date);
                CHECK(known.are_below(n + 1, partition, date, 60, 0) &&
                      !known.are_below(n, partition, date, 60, 0));
            }
        }
    }
}

void main_passes_keep_their_distance() {
    Drive drive;
    drive.first_tick = 0.25;
    drive.tick_period = 1.0;
    drive.first_full = 60.0;
    MainClock clock(drive, Parameters{});
    CHECK(clock.next().time == 60.25 && clock.next().full);
    clock.request(2.0);
    CHECK(clock.next().time == 2.25 && !clock.next().full);
    clock.ran({2.25, false});
    clock.request(2.5); // three whole seconds after 2: the tick of 5
    CHECK(clock.next().time == 5.25);
    clock.ran({5.25, false});
    clock.skip_until(200.0);
    CHECK(clock.next().time == 240.25 && clock.next().full);
    clock.request(239.5);
    CHECK(clock.next().time == 240.25 - 0.0 && clock.next().full);
}

void backfilling_sleeps_and_looks() {
    Drive drive;
    drive.first_backfill = 10.5;
    drive.backfill_overhead = 0.0;
    BackfillClock clock(drive, Parameters{});
    CHECK(clock.next(5.0) == 10.5);
    CHECK(clock.next(-1e12) == 10.5); // the first pass comes though nothing has changed
    clock.ran(10.5, 10.5);
    CHECK(clock.next(9.0) == infinity); // nothing has changed since
    CHECK(clock.next(10.0) == 40.5);
    clock.look_until(55.2, 9.0); // each second, in vain
    CHECK(clock.next(55.0) == 55.5);
    clock.ran(55.5, 57.6);
    CHECK(clock.next(60.0) == 87.6);
}

void limits_are_checked_each_half_minute() {
    Drive drive;
    drive.first_tick = 0.5;
    drive.first_limit_check = 3.0;
    LimitClock clock(drive);
    CHECK(clock.first_from(0.0) == 3.5 && clock.first_from(4.0) == 33.5);
    CHECK(clock.first_from(100.0) == 123.5);

    drive.limit_checks = {4.75, 32.25, 67.0}; // the others are too far from where one is due
    LimitClock given(drive);
    CHECK(given.first_from(0.0) == 4.75 && given.first_from(5.0) == 34.5);
    CHECK(given.first_from(35.0) == 64.5 && given.first_from(65.0) == 94.5);
}

} // namespace

void test_slurm_model() {
    node_sets_are_sets();
    the_tightest_run_is_chosen();
    needs_of_special_kinds_are_met();
    nodes_below_one_switch_are_chosen();
    plans_take_nodes_away_for_a_time();
    plans_tell_when_more_nodes_are_free();
    plans_use_up_records_as_slurms_table_does();
    known_counts_hold_for_longer_and_earlier();
    known_counts_of_many_dates_and_partitions_stay_apart();
    ends_give_nodes_back_in_order();
    main_passes_keep_their_distance();
    backfilling_sleeps_and_looks();
    limits_are_checked_each_half_minute();
}

} // namespace noctule
