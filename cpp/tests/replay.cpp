// Users who wait for results against the most naive version of them, and the calendars that they
// keep against a look at every hour.
#include "replay/users.hpp"
#include "tests/checks.hpp"

#include <cmath>
#include <map>

namespace noctule {

namespace {

// Groups of one or two jobs each, which depend on some of those before them.
struct RandomGroups {
    GroupPlan plan;
    std::vector<std::uint32_t> first_dependency = {0};
    std::vector<GroupIndex> dependency = {};
    std::vector<double> think_time = {};

    explicit RandomGroups(Random& random) {
        double start = 0.0;
        plan.first_job.push_back(0);
        for (std::uint32_t n = draw(random, 1, 12); n > 0; --n) {
            start += draw(random, 0, 50);
            add(random, start);
        }
        plan.set_dependencies(first_dependency, dependency, think_time);
    }

    void add(Random& random, double start) {
        const GroupIndex group = plan.n_groups();
        for (GroupIndex on = 0; on < group; ++on) {
            if (draw(random, 0, 2) == 0) {
                dependency.push_back(on);
                think_time.push_back(draw(random, 0, 20));
            }
        }
        first_dependency.push_back(static_cast<std::uint32_t>(dependency.size()));
        plan.start_time.push_back(start);
        plan.end_time.push_back(start + draw(random, 0, 20));
        plan.user.push_back(0);
        for (std::uint32_t i = draw(random, 1, 2); i > 0; --i) {
            plan.jobs.push_back(static_cast<JobIndex>(plan.jobs.size()));
            plan.submit_time.push_back(start + (i == 1 ? 0.0 : 5.0));
        }
        plan.first_job.push_back(static_cast<std::uint32_t>(plan.jobs.size()));
    }
};

// Dates by job, found group by group: all that a group depends on stands before it.
std::vector<double> naive_dates(const RandomGroups& groups, const std::vector<double>& responses) {
    const GroupPlan& plan = groups.plan;
    std::vector<double> dates(plan.jobs.size());
    std::vector<double> ends(plan.n_groups(), 0.0);
    for (GroupIndex group = 0; group < plan.n_groups(); ++group) {
        const std::uint32_t first = groups.first_dependency[group];
        const std::uint32_t last = groups.first_dependency[group + 1];
        double begin = first == last ? plan.start_time[group] : 0.0;
        for (std::uint32_t i = first; i < last; ++i) {
            begin = std::max(begin, ends[groups.dependency[i]] + groups.think_time[i]);
        }
        for (std::uint32_t i = plan.first_job[group]; i < plan.first_job[group + 1]; ++i) {
            dates[i] = begin + (plan.submit_time[i] - plan.start_time[group]);
            ends[group] = std::max(ends[group], dates[i] + responses[i]);
        }
    }
    return dates;
}

void users_submit_when_their_results_are_there() {
    Random random(3);
    for (int round = 0; round < 300; ++round) {
        const RandomGroups groups(random);
        const auto plan = std::make_shared<GroupPlan>(groups.plan);
        std::vector<double> responses;
        for (std::size_t i = 0; i < plan->jobs.size(); ++i) {
            responses.push_back(draw(random, 0, 40));
        }
        Users users(plan);
        std::vector<double> dates(plan->jobs.size(), not_a_time);
        std::multimap<double, JobIndex> ends;
        std::size_t n_taken = 0;
        while (users.next_date() < infinity || !ends.empty()) {
            const double next_end = ends.empty() ? infinity : ends.begin()->first;
            if (next_end <= users.next_date()) {
                const JobIndex job = ends.begin()->second;
                ends.erase(ends.begin());
                users.job_ended({job, dates[job], dates[job], next_end});
                continue;
            }
            const double now = users.next_date();
            const JobIndex job = users.take(now);
            CHECK(users.has_more() == (++n_taken < dates.size()));
            dates[job] = now;
            ends.emplace(now + responses[job], job);
        }
        CHECK(users.take(infinity) == no_job);
        CHECK(dates == naive_dates(groups, responses));
    }
}

void think_times_react_within_bounds() {
    const Thinking thinking{Thinking::Kind::reacting, 100.0, 0.5, 10.0};
    CHECK(thinking.factor(200.0, 200.0) == 1.0);
    CHECK(thinking.factor(200.0, 600.0) == 2.0);
    CHECK(thinking.factor(0.0, 1e6) == 10.0);
    CHECK(Thinking({Thinking::Kind::reacting, 100.0, -1.0, 10.0}).factor(0.0, 500.0) == 0.0);
    CHECK(Thinking({Thinking::Kind::reacting, -1.0, 0.0, 10.0}).factor(5.0, 9.0) == 1.0);
    CHECK(thinking.factor(infinity, 9.0) == 1.0);
}

void periods_are_waited_for() {
    const RecordedPeriods periods({0, 2, 2}, {{10, 20}, {30, 30}});
    CHECK(periods.next(0, 0, 0.0) == 10.0);
    CHECK(periods.next(0, 0, 20.0) == 20.0);
    CHECK(periods.next(0, 0, 21.0) == 30.0);
    CHECK(periods.next(0, 0, 30.5) == 30.5);
    CHECK(periods.next(1, 0, 3.0) == 3.0);
}

// A clock that is put back by an hour in the second week.
void hours_of_work_are_waited_for() {
    constexpr double hour = 3600.0;
    WeeklyHours::Week week{};
    week[30] = 1.0;
    week[31] = 0.5;
    const WeeklyHours::Clock clock{{-infinity, 170 * hour}, {0.0, -hour}};
    const WeeklyHours hours(clock, {week}, {0}, {2 * hour}, 5);
    CHECK(hours.next(0, 0, 30.2 * hour) == 30.2 * hour);
    CHECK(hours.next(0, 0, 2.5 * hour) == 2.5 * hour); // its recorded hour
    const double moved = hours.next(0, 0, 3.0 * hour);
    CHECK(moved >= 30 * hour && moved < 31 * hour && moved == std::floor(moved));
    CHECK(hours.next(0, 0, 3.0 * hour) == moved);
    // hour 2 of the second week, as the clock shows it from 170 on, is the 171st
    const double again = hours.next(0, 0, 170.5 * hour);
    CHECK(again >= 171 * hour && again < 172 * hour);
    int n_kept = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const WeeklyHours drawn(clock, {week}, {0}, {2 * hour}, seed);
        n_kept += drawn.next(0, 0, 31.5 * hour) == 31.5 * hour;
    }
    CHECK(n_kept > 160 && n_kept < 240);
}

void users_leave_by_what_they_have_seen() {
    PopulationPlan plan{.stretch_of_group = {0, 0, 1},
                        .n_groups = {2, 1},
                        .n_jobs_left = {7, 0},
                        .luck = {0.5, 0.5},
                        .half = 3.0,
                        .steepness = 1.0};
    CHECK(plan.leaving_probability(3.0) == 0.5);
    CHECK(plan.leaving_probability(100.0) > 0.99);
    // slowdowns 1 and 1: she stays; 1 and 10, of which the mean is 5.5: she leaves
    for (const double wait : {0.0, 180.0}) {
        Population population(plan);
        population.note(0, {0, 0.0, 0.0, 20.0});
        CHECK(population.end_group(0) == 0);
        population.note(1, {1, 0.0, wait, wait + 20.0});
        CHECK(population.end_group(1) == (wait > 0 ? 7U : 0U));
    }
    // jobs that never ran tell nothing
    Population population(plan);
    population.note(2, {2, 0.0, not_a_time, 1000.0});
    CHECK(population.end_group(2) == 0);
}

} // namespace

void test_replay() {
    users_submit_when_their_results_are_there();
    think_times_react_within_bounds();
    periods_are_waited_for();
    hours_of_work_are_waited_for();
    users_leave_by_what_they_have_seen();
}

} // namespace noctule
