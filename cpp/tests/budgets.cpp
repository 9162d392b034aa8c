// Energy counters and forecasts, by hand and against the balance added up second by second.
#include "energy_budget.hpp"
#include "tests/checks.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace noctule {

namespace {

struct Held {
    std::uint32_t n_hosts;
    int until;
};

// Dates are whole seconds, so that a sum over seconds is exact.
struct Case {
    EnergyBudget budget;
    std::uint32_t n_hosts;
    int now;
    double available;
    std::vector<Held> held;

    int begin() const { return std::max(now, static_cast<int>(budget.start)); }
    int end() const { return static_cast<int>(budget.end); }

    double watts_left(int second) const {
        double n = 0;
        for (const Held& job : held) {
            n += second < job.until ? job.n_hosts : 0;
        }
        return budget.rate() - budget.watts(n_hosts, n);
    }

    bool affords(int start, std::uint32_t n, int walltime, double reserved) const {
        int last = start + walltime;
        if (last <= budget.start) {
            return true;
        }
        for (const Held& job : held) {
            last = std::max(last, job.until);
        }
        double balance = available;
        const int first = std::max(start, begin());
        bool good = true;
        for (int t = begin(); t <= std::min(last, end()); ++t) {
            if (t >= first) {
                good = good && balance - reserved >= -1e-6;
            }
            balance += watts_left(t);
            if (t >= first && t < start + walltime) {
                balance -= budget.extra_watts(n);
            }
        }
        return good;
    }
};

Case random_case(Random& random) {
    const std::uint32_t n_hosts = draw(random, 1, 12);
    const double start = draw(random, 0, 20);
    const double end = start + draw(random, 1, 40);
    const double rate = draw(random, 100 * n_hosts, 200 * n_hosts);
    const int now = static_cast<int>(draw(random, 0, static_cast<std::uint32_t>(end) - 1));
    const double available =
        now < start ? 0.0 : static_cast<double>(draw(random, 0, 4000)) - 1000.0;
    Case found{{rate * (end - start), start, end, 100, 200}, n_hosts, now, available, {}};
    std::uint32_t free = n_hosts;
    while (free > 0 && draw(random, 0, 3) > 0) {
        const std::uint32_t n = draw(random, 1, free);
        found.held.push_back({n, now + static_cast<int>(draw(random, 1, 60))});
        free -= n;
    }
    return found;
}

EnergyForecast forecast_of(const Case& found, bool at_once) {
    Releases releases;
    EnergyForecast forecast(found.budget, found.n_hosts);
    if (at_once) {
        for (JobIndex job = 0; job < found.held.size(); ++job) {
            releases.add(
                {static_cast<double>(found.held[job].until), job, found.held[job].n_hosts});
        }
    }
    forecast.begin(found.now, found.available, releases);
    for (const Held& job : found.held) {
        if (!at_once) {
            forecast.add(job.n_hosts, job.until);
        }
    }
    return forecast;
}

void forecasts_add_up_every_second() {
    Random random(6);
    for (int round = 0; round < 3000; ++round) {
        const Case found = random_case(random);
        const EnergyForecast forecast = forecast_of(found, round % 2 == 0);
        for (int t = found.begin(); t < found.end(); ++t) {
            CHECK(std::abs(forecast.watts_left(t) - found.watts_left(t)) < 1e-6);
        }
        const std::uint32_t n = draw(random, 1, found.n_hosts);
        const int walltime = static_cast<int>(draw(random, 1, 50));
        const double reserved = draw(random, 0, 1) * draw(random, 0, 900);
        CHECK(forecast.affords(found.now, n, walltime, reserved) ==
              found.affords(found.now, n, walltime, reserved));
        // no whole date before the one that was found will do, and it will
        const double date = forecast.first_affordable(found.now, n, walltime);
        for (int t = found.now; t < date; ++t) {
            CHECK(!found.affords(t, n, walltime, 0.0));
        }
        CHECK(forecast.affords(date, n, walltime));
        const double below = forecast.first_below_rate(found.now, n, walltime);
        CHECK(forecast.keeps_rate(below, n, walltime));
        for (int t = found.now; t < below; ++t) {
            CHECK(found.watts_left(std::max(t, found.begin())) < found.budget.extra_watts(n));
        }
    }
}

void counters_are_set_right_by_measurements() {
    // 300 J a second from 10 to 20
    EnergyCounter counter({3000, 10, 20, 100, 200});
    counter.draw(500);
    counter.advance(10);
    CHECK(counter.available() == 0.0);
    counter.measure(10, 4000);
    counter.draw(100);
    counter.advance(12);
    CHECK(counter.available() == 400.0);
    counter.draw(400);
    counter.advance(15);
    CHECK(counter.available() == 100.0);
    counter.measure(15, 4600); // of 1500 J released, 600 were spent
    CHECK(counter.available() == 900.0);
    CHECK(counter.measured() == 600.0);
    counter.advance(30);
    CHECK(counter.available() == 400.0); // nothing is released after the end
}

void a_budget_counts_the_part_of_a_job_inside_it() {
    const EnergyBudget budget{3000, 10, 20, 100, 200};
    CHECK(budget.rate() == 300.0);
    CHECK(budget.seconds_inside(0, 5) == 0.0);
    CHECK(budget.seconds_inside(0, 15) == 5.0);
    CHECK(budget.seconds_inside(12, 3) == 3.0);
    CHECK(budget.seconds_inside(12, infinity) == 8.0);
    CHECK(budget.seconds_inside(20, 5) == 0.0);
    CHECK(budget.watts(4, 1) == 500.0);
}

} // namespace

void test_budgets() {
    forecasts_add_up_every_second();
    counters_are_set_right_by_measurements();
    a_budget_counts_the_part_of_a_job_inside_it();
}

} // namespace noctule
