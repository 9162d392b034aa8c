// Unit tests of the core, run under sanitizers: each unit against the most naive version of itself.
#include "batch.hpp"
#include "engine.hpp"
#include "errors.hpp"
#include "policies/policies.hpp"
#include "policies/queue.hpp"
#include "small_files.hpp"
#include "swf.hpp"
#include "tests/checks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <unistd.h>

using namespace noctule;

namespace {

HostSet random_set(Random& random) {
    std::vector<Interval> intervals;
    for (std::uint32_t n = draw(random, 0, 6); n > 0; --n) {
        const HostId first = draw(random, 0, 40);
        intervals.push_back({first, first + draw(random, 0, 5)});
    }
    return HostSet::from_intervals(intervals);
}

void host_sets_are_sets() {
    CHECK(HostSet::parse("0-3 7").to_string() == "0-3 7");
    CHECK(HostSet::parse(" 7,5, 6 0").to_string() == "0 5-7");
    CHECK(HostSet::parse("").empty());
    for (const char* bad : {"a", "3-1", "1-", "-1", "1-2-3", "99999999999", "1;2"}) {
        bool refused = false;
        try {
            HostSet::parse(bad);
        } catch (const InputError&) {
            refused = true;
        }
        CHECK(refused);
    }
    Random random(1);
    for (int i = 0; i < 2000; ++i) {
        const HostSet a = random_set(random);
        const HostSet b = random_set(random);
        const auto in_a = members(a);
        const auto in_b = members(b);
        std::set<HostId> both;
        std::set<HostId> either = in_a;
        std::set<HostId> only_a;
        either.insert(in_b.begin(), in_b.end());
        for (const HostId host : in_a) {
            (in_b.contains(host) ? both : only_a).insert(host);
        }
        CHECK(members(a.united(b)) == either);
        CHECK(members(a.intersected(b)) == both);
        CHECK(members(a.without(b)) == only_a);
        CHECK(a.size() == in_a.size());
        CHECK(HostSet::parse(a.to_string()) == a);
    }
}

void free_hosts_take_the_lowest_and_find_runs() {
    Random random(2);
    for (int round = 0; round < 300; ++round) {
        const std::uint32_t n_hosts = draw(random, 1, 300);
        FreeHosts hosts(n_hosts);
        HostArchive archive;
        std::set<HostId> naive;
        for (HostId host = 0; host < n_hosts; ++host) {
            naive.insert(host);
        }
        std::vector<std::pair<ArchivedHosts, std::uint32_t>> held;
        for (int step = 0; step < 40; ++step) {
            if (!held.empty() && draw(random, 0, 1) == 0) {
                const auto [kept, n] =
                    held[draw(random, 0, static_cast<std::uint32_t>(held.size()) - 1)];
                std::erase_if(held, [&](const auto& h) {
                    return h.first.block == kept.block && h.first.offset == kept.offset;
                });
                archive.for_each(kept, [&](Interval run) {
                    hosts.give(run);
                    for (HostId host = run.first; host <= run.last; ++host) {
                        naive.insert(host);
                    }
                });
            } else if (!naive.empty()) {
                const std::uint32_t n = draw(random, 1, static_cast<std::uint32_t>(naive.size()));
                archive.begin();
                std::set<HostId> taken;
                hosts.take_first(n, [&](Interval run) {
                    archive.add(run);
                    for (HostId host = run.first; host <= run.last; ++host) {
                        taken.insert(host);
                    }
                });
                const auto cut = std::next(naive.begin(), n);
                CHECK(taken == std::set<HostId>(naive.begin(), cut));
                naive.erase(naive.begin(), cut);
                held.emplace_back(archive.keep(), n);
            }
            CHECK(hosts.count() == naive.size());
            CHECK(members(hosts.to_host_set()) == naive);
            std::set<HostId> others;
            hosts.for_each_taken([&](HostId host) { CHECK(others.insert(host).second); });
            CHECK(others.size() + naive.size() == n_hosts);
            CHECK(std::ranges::none_of(others, [&](HostId host) { return naive.contains(host); }));
            const std::uint32_t wanted = draw(random, 1, 20);
            std::optional<HostId> expected;
            std::uint32_t length = 0;
            for (HostId host = 0; host < n_hosts && !expected; ++host) {
                length = naive.contains(host) ? length + 1 : 0;
                if (length == wanted) {
                    expected = host + 1 - wanted;
                }
            }
            const auto run = hosts.find_run(wanted);
            CHECK(run.has_value() == expected.has_value());
            CHECK(!run || (run->first == *expected && run->size() == wanted));
            if (!naive.empty()) {
                const auto some = std::next(
                    naive.begin(), draw(random, 0, static_cast<std::uint32_t>(naive.size()) - 1));
                Interval around{*some, *some};
                while (around.first > 0 && naive.contains(around.first - 1)) {
                    --around.first;
                }
                while (naive.contains(around.last + 1)) {
                    ++around.last;
                }
                const Interval part{*some, draw(random, *some, around.last)};
                const std::uint32_t longest = around.last - around.first + 1;
                CHECK(hosts.lie_in_run(part, wanted) == (longest >= wanted));
                CHECK(hosts.lie_in_run(part, longest));
                CHECK(!hosts.lie_in_run(part, longest + 1));
            }
        }
    }
}

void free_hosts_that_wake_soonest_are_taken_first() {
    constexpr int ranks[] = {0, 3, 2, 1}; // by phase
    Random random(3);
    for (int round = 0; round < 300; ++round) {
        const std::uint32_t n_hosts = draw(random, 1, 150);
        FreePool pool(n_hosts);
        pool.tell_phases_apart();
        std::vector<HostPhase> phases(n_hosts, HostPhase::awake);
        std::set<HostId> held;
        for (int step = 0; step < 40; ++step) {
            for (std::uint32_t n = draw(random, 0, 20); n > 0; --n) {
                const HostId host = draw(random, 0, n_hosts - 1);
                const auto phase = static_cast<HostPhase>(draw(random, 0, 3));
                pool.change(host, phases[host], phase);
                phases[host] = phase;
            }
            if (!held.empty() && draw(random, 0, 1) == 0) {
                pool.give({*held.begin(), *held.begin()}, phases[*held.begin()]);
                held.erase(held.begin());
                continue;
            }
            std::vector<HostId> free;
            for (HostId host = 0; host < n_hosts; ++host) {
                CHECK(pool.contains(host) == !held.contains(host));
                if (!held.contains(host)) {
                    free.push_back(host);
                }
            }
            std::ranges::stable_sort(free, {}, [&](HostId host) {
                return ranks[static_cast<std::size_t>(phases[host])];
            });
            const std::uint32_t n = draw(random, 0, static_cast<std::uint32_t>(free.size()));
            std::set<HostId> taken;
            pool.take(Allocation::first, n, Hierarchy(n_hosts, {}), [&](Interval run) {
                for (HostId host = run.first; host <= run.last; ++host) {
                    taken.insert(host);
                }
            });
            CHECK(taken == std::set<HostId>(free.begin(), free.begin() + n));
            held.insert(taken.begin(), taken.end());
            CHECK(pool.awake().count() + held.size() <= n_hosts);
        }
    }
}

void releases_give_the_textbook_shadow() {
    Random random(3);
    for (int round = 0; round < 60; ++round) {
        Releases releases;
        std::vector<Release> naive;
        for (JobIndex job = 0; job < 900; ++job) {
            const Release release{static_cast<double>(draw(random, 1, 60)), job,
                                  draw(random, 1, 9)};
            releases.add(release);
            naive.push_back(release);
            if (draw(random, 0, 2) == 0) {
                const auto victim =
                    naive.begin() + draw(random, 0, static_cast<std::uint32_t>(naive.size()) - 1);
                releases.remove(victim->time, victim->job);
                naive.erase(victim);
            }
        }
        std::uint64_t total = 0;
        for (const Release& release : naive) {
            total += release.n_hosts;
        }
        const double now = draw(random, 0, 20);
        const std::uint32_t n_free = draw(random, 0, 9);
        const std::uint32_t needed = n_free + draw(random, 1, static_cast<std::uint32_t>(total));
        double shadow = infinity;
        std::uint64_t available = 0;
        for (double time = now; shadow == infinity; ++time) {
            available = n_free;
            for (const Release& release : naive) {
                available += std::max(release.time, now) <= time ? release.n_hosts : 0;
            }
            shadow = available >= needed ? time : infinity;
        }
        const Shadow found = releases.shadow(now, n_free, needed);
        CHECK(found.time == shadow);
        CHECK(found.extra == available - needed);
    }
}

std::shared_ptr<JobTable> random_jobs(Random& random, std::uint32_t n, std::uint32_t n_hosts) {
    auto table = std::make_shared<JobTable>();
    double time = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
        time += draw(random, 0, 2);
        const double walltime = draw(random, 1, 30);
        const double amount = draw(random, 1, static_cast<std::uint32_t>(walltime));
        table->jobs.push_back(
            {time, walltime, amount, draw(random, 1, n_hosts), ProfileKind::compute, false});
        table->numbers.push_back(i);
        table->cancel_times.push_back(draw(random, 0, 9) == 0 ? time + draw(random, 0, 40)
                                                              : infinity);
    }
    return table;
}

// The queue with its index against a plain scan, while jobs come and go.
void queues_find_what_a_scan_finds() {
    Random random(5);
    const auto table = random_jobs(random, 6000, 50);
    table->cancel_times.clear();
    for (const bool sorted : {false, true}) {
        Engine engine(100, table, Options{});
        while (engine.n_waiting() < table->jobs.size()) {
            engine.advance();
        }
        const View view(engine);
        JobQueue queue(sorted ? Order({{OrderOp::walltime, 0.0}}) : Order());
        std::map<std::pair<double, JobIndex>, JobIndex> naive;
        for (JobIndex job = 0; job < table->jobs.size(); ++job) {
            queue.add(view, job);
            naive[{sorted ? view.walltime(job) : 0.0, job}] = job;
            if (draw(random, 0, 40) != 0 || naive.size() < 2) {
                continue;
            }
            Window window{0.0, static_cast<double>(draw(random, 0, 8)), draw(random, 0, 9), 0};
            window.extra = draw(random, 0, window.n_free);
            auto position = queue.find(queue.first(), window);
            for (auto entry = naive.begin(); entry != naive.end();) {
                const JobIndex waiting = entry->second;
                if (!window.admits(view.n_hosts(waiting), view.walltime(waiting))) {
                    ++entry;
                    continue;
                }
                CHECK(queue.valid(position) && queue.at(position).job == waiting);
                if (!queue.valid(position)) {
                    return;
                }
                const bool remove = draw(random, 0, 2) != 0;
                position =
                    queue.find(remove ? queue.remove(position) : queue.after(position), window);
                entry = remove ? naive.erase(entry) : std::next(entry);
            }
            CHECK(!queue.valid(position));
            CHECK(queue.size() == naive.size());
        }
    }
}

void policies_end_every_job(std::string_view name, Allocation allocation) {
    Random random(6);
    for (int round = 0; round < 12; ++round) {
        const std::uint32_t n_hosts = draw(random, 1, 70);
        const auto table = random_jobs(random, 300, n_hosts);
        Options options;
        options.epilogue_delay = round % 3 == 0 ? 2.5 : 0.0;
        for (HostId host = 0; host < n_hosts && allocation == Allocation::local; ++host) {
            options.groups.push_back(host % 3);
        }
        Engine engine(n_hosts, table, options);
        const auto policy = make_policy(name, {.order = Order(), .allocation = allocation});
        while (run(engine, *policy, 1000)) {
        }
        const auto record = engine.record(true);
        CHECK(record->size() == table->jobs.size());
        CHECK(engine.n_free() == n_hosts || options.epilogue_delay > 0);
        for (std::size_t row = 0; row < record->size(); ++row) {
            const std::size_t n = record->hosts(row).size();
            CHECK(record->state[row] == JobState::completed
                      ? n == record->n_hosts[row]
                      : record->state[row] == JobState::cancelled ||
                            record->n_hosts[row] > engine.hierarchy().largest());
            CHECK(allocation != Allocation::contiguous ||
                  record->hosts(row).intervals().size() <= 1);
            const std::set<HostId> hosts = members(record->hosts(row));
            CHECK(
                allocation != Allocation::local || n == 0 || n_hosts < 3 ||
                std::ranges::all_of(hosts, [&](HostId h) { return h % 3 == *hosts.begin() % 3; }));
        }
    }
}

void swf_lines_are_read_or_refused() {
    const SwfTable table =
        parse_swf("; Version: 2.2\n1 0 0 5 2 -1 -1 2 10 -1 1 1 1 1 1 -1 -1 -1\n");
    CHECK(table.n_rows == 1 && table.cells[3] == 5 && table.lines[0] == 2);
    Random random(7);
    const std::string alphabet = "0123456789 -+.e;\n\rx\0";
    for (int i = 0; i < 20000; ++i) {
        std::string text;
        for (std::uint32_t n = draw(random, 0, 120); n > 0; --n) {
            text += alphabet[draw(random, 0, static_cast<std::uint32_t>(alphabet.size()) - 1)];
        }
        try {
            const SwfTable parsed = parse_swf(text);
            CHECK(parsed.cells.size() == 18 * parsed.n_rows);
        } catch (const InputError& error) {
            CHECK(std::string(error.what()).find("expected") != std::string::npos);
        }
    }
}

void sums_are_exact_in_any_order() {
    CHECK(exact_sum(std::vector<double>{}) == 0);
    CHECK(exact_sum(std::vector{1e308, 1.0, -1e308}) == 1);
    // half of the last bit of 1, and a little more: up; on its own: to even
    CHECK(exact_sum(std::vector{1.0, 0x1p-53}) == 1);
    CHECK(exact_sum(std::vector{1.0, 0x1p-53, 0x1p-200}) == 1 + 0x1p-52);
    Random random(11);
    for (int i = 0; i < 500; ++i) {
        // multiples of 2^-20 below 2^30 add up exactly in 128 bits
        std::vector<double> values;
        __int128 sum = 0;
        for (std::uint32_t n = draw(random, 1, 50); n > 0; --n) {
            const auto units = (static_cast<std::int64_t>(random()) << 18) - (1LL << 49);
            values.push_back(std::ldexp(static_cast<double>(units), -20));
            sum += units;
        }
        const double expected = std::ldexp(static_cast<double>(sum), -20);
        CHECK(exact_sum(values) == expected);
        std::shuffle(values.begin(), values.end(), random);
        CHECK(exact_sum(values) == expected);
    }
}

void batches_give_what_single_runs_give() {
    Random random(12);
    std::vector<std::unique_ptr<Engine>> engines;
    std::vector<std::unique_ptr<Policy>> policies;
    std::vector<BatchRun> runs;
    std::vector<double> expected;
    for (int i = 0; i < 8; ++i) {
        const auto table = random_jobs(random, 200, 16);
        Engine alone(16, table, Options());
        const auto policy = make_policy("easy", {.order = Order()});
        while (run(alone, *policy, 1000)) {
        }
        expected.push_back(alone.now());
        engines.push_back(std::make_unique<Engine>(16, table, Options()));
        policies.push_back(make_policy("easy", {.order = Order()}));
        runs.push_back({engines.back().get(), policies.back().get()});
    }
    const std::vector<Measure> measures = {{0, 0, 10}, {50, 50, 10}};
    std::span<const BatchRun> rest = runs;
    while (!rest.empty()) { // no time at all: one run a turn
        const BatchResult result = run_batch(rest, measures, 0.0);
        CHECK(result.error.empty() && result.summaries.size() <= 1);
        for (const auto& summaries : result.summaries) {
            CHECK(summaries.size() == 2 && summaries[0].makespan == summaries[1].makespan);
        }
        rest = rest.subspan(result.summaries.size());
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
        CHECK(engines[i]->now() == expected[i]);
    }
}

void small_files_are_written_with_their_folders_and_read_again() {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("noctule-tests-" + std::to_string(::getpid()));
    const std::string one = (folder / "a" / "b" / "one").string();
    const std::string two = (folder / "two").string();
    const std::string content(20000, 'x');
    CHECK(write_small_files({{one, content}, {two, ""}}).second == 0);
    CHECK(write_small_files({{two, "y"}, {one + "/under-a-file", "z"}}).first == 1);
    const auto found = read_small_files({one, two, (folder / "three").string(), folder.string()});
    CHECK(found[0] == content && found[1] == "y" && !found[2] && !found[3]);
    std::filesystem::remove_all(folder);
}

} // namespace

int main() {
    host_sets_are_sets();
    test_arrays();
    free_hosts_take_the_lowest_and_find_runs();
    free_hosts_that_wake_soonest_are_taken_first();
    releases_give_the_textbook_shadow();
    test_plans();
    test_budgets();
    queues_find_what_a_scan_finds();
    for (const std::string name : {"conservative", "easy", "fcfs", "filler", "replanning"}) {
        policies_end_every_job(name, Allocation::first);
        policies_end_every_job(name, Allocation::contiguous);
        policies_end_every_job(name, Allocation::local);
    }
    swf_lines_are_read_or_refused();
    sums_are_exact_in_any_order();
    batches_give_what_single_runs_give();
    small_files_are_written_with_their_folders_and_read_again();
    test_network();
    test_mpi();
    test_fluid();
    test_load();
    test_queue_history();
    test_replay();
    test_protocol();
    test_slurm_model();
    test_slurm_select();
    test_slurm_priority();
    test_slurm_limits();
    test_slurm_preemption();
    std::printf("%d passed, %d failed\n", n_passed, n_failed);
    return n_failed == 0 ? 0 : 1;
}
