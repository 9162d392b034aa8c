// What schedules tell about waiting jobs, against what counting moment by moment tells.
#include "queue_history.hpp"
#include "tests/checks.hpp"

#include <algorithm>
#include <cmath>

namespace noctule {

namespace {

struct Jobs {
    std::vector<double> submit;
    std::vector<double> left;
    std::vector<double> value;
};

Jobs random_jobs(Random& random) {
    Jobs jobs;
    for (std::uint32_t n = draw(random, 0, 12); n > 0; --n) {
        jobs.submit.push_back(draw(random, 0, 20));
    }
    std::ranges::sort(jobs.submit);
    for (const double submit : jobs.submit) {
        jobs.left.push_back(draw(random, 0, 5) == 0 ? infinity : submit + draw(random, 0, 15));
        jobs.value.push_back(draw(random, 1, 9));
    }
    return jobs;
}

void those_ahead_came_earlier_and_left_no_later() {
    Random random(21);
    for (int round = 0; round < 300; ++round) {
        const Jobs jobs = random_jobs(random);
        const std::vector<double> found = ahead_until(jobs.left);
        for (std::size_t job = 0; job < jobs.left.size(); ++job) {
            double latest = -infinity;
            for (std::size_t other = 0; other < job; ++other) {
                if (jobs.left[other] <= jobs.left[job]) {
                    latest = std::max(latest, jobs.left[other]);
                }
            }
            CHECK(found[job] == latest);
        }
    }
}

void the_least_is_of_those_who_wait() {
    Random random(22);
    for (int round = 0; round < 300; ++round) {
        const Jobs jobs = random_jobs(random);
        std::vector<double> dates;
        for (std::uint32_t n = draw(random, 0, 20); n > 0; --n) {
            dates.push_back(draw(random, 0, 40));
        }
        std::ranges::sort(dates);
        const std::vector<double> found =
            least_waiting(dates, {jobs.submit, jobs.left}, jobs.value);
        for (std::size_t i = 0; i < dates.size(); ++i) {
            double least = infinity;
            for (std::size_t job = 0; job < jobs.left.size(); ++job) {
                if (jobs.submit[job] <= dates[i] && dates[i] < jobs.left[job]) {
                    least = std::min(least, jobs.value[job]);
                }
            }
            CHECK(found[i] == least);
        }
    }
}

void seconds_and_turns_are_those_with_enough() {
    Random random(23);
    for (int round = 0; round < 300; ++round) {
        std::vector<double> time;
        std::vector<std::int64_t> value;
        double date = draw(random, 0, 10);
        for (std::uint32_t n = draw(random, 0, 12); n > 0; --n) {
            time.push_back(date);
            value.push_back(draw(random, 0, 6));
            date += draw(random, 1, 4);
        }
        const std::int64_t before = draw(random, 0, 6);
        std::vector<double> begin;
        std::vector<double> end;
        std::vector<std::int64_t> needed;
        for (std::uint32_t n = draw(random, 0, 10); n > 0; --n) {
            begin.push_back(draw(random, 0, 40));
            end.push_back(begin.back() + draw(random, 0, 30));
            needed.push_back(draw(random, 0, 7));
        }
        const std::vector<double> found =
            seconds_at_least({time, value, before}, {begin, end, needed});
        std::vector<std::int64_t> stretch;
        std::vector<double> turn;
        for (std::size_t i = 0; i < begin.size(); ++i) {
            double seconds = 0.0;
            bool was_enough = false;
            for (double second = begin[i]; second < end[i]; second += 1.0) {
                std::int64_t now = before;
                for (std::size_t step = 0; step < time.size() && time[step] <= second; ++step) {
                    now = value[step];
                }
                const bool is_enough = now >= needed[i];
                seconds += is_enough ? 1.0 : 0.0;
                if (second > begin[i] && is_enough != was_enough) {
                    stretch.push_back(static_cast<std::int64_t>(i));
                    turn.push_back(second);
                }
                was_enough = is_enough;
            }
            CHECK(found[i] == seconds);
        }
        const Turns turns = turns_of({time, value, before}, {begin, end, needed}, turn.size());
        CHECK(turns.stretch == stretch);
        CHECK(turns.date == turn);
        const std::size_t fewer = turn.size() / 2;
        CHECK(turns_of({time, value, before}, {begin, end, needed}, fewer).date.size() == fewer);
    }
}

void blocks_are_as_large_as_what_nobody_holds() {
    Random random(24);
    for (int round = 0; round < 300; ++round) {
        const std::uint32_t n_hosts = draw(random, 1, 13);
        std::vector<double> start;
        std::vector<double> finish;
        std::vector<std::uint32_t> first;
        std::vector<std::uint32_t> held;
        for (std::uint32_t n = draw(random, 0, 10); n > 0; --n) {
            start.push_back(draw(random, 0, 5) == 0 ? not_a_time : draw(random, 0, 20));
            finish.push_back(draw(random, 0, 5) == 0 ? not_a_time
                                                     : start.back() + draw(random, 0, 10));
            first.push_back(draw(random, 0, n_hosts - 1));
            held.push_back(draw(random, 1, n_hosts - first.back()));
        }
        std::vector<double> dates;
        for (int date = 0; date < 32; ++date) {
            dates.push_back(date);
        }
        const std::vector<std::int64_t> found =
            largest_free_block(dates, {start, finish, first, held}, n_hosts);
        for (std::size_t i = 0; i < dates.size(); ++i) {
            std::int64_t largest = 0;
            std::int64_t block = 0;
            for (std::uint32_t host = 0; host < n_hosts; ++host) {
                bool is_held = false;
                for (std::size_t job = 0; job < start.size(); ++job) {
                    is_held |= start[job] <= dates[i] && !(finish[job] <= dates[i]) &&
                               first[job] <= host && host < first[job] + held[job];
                }
                block = is_held ? 0 : block + 1;
                largest = std::max(largest, block);
            }
            CHECK(found[i] == largest);
        }
    }
}

} // namespace

void test_queue_history() {
    those_ahead_came_earlier_and_left_no_later();
    the_least_is_of_those_who_wait();
    seconds_and_turns_are_those_with_enough();
    blocks_are_as_large_as_what_nobody_holds();
}

} // namespace noctule
