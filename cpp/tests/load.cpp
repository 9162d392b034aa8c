// The liquid load horizon against one that is counted second by second, and gaps between jobs.
#include "host_gaps.hpp"
#include "load_history.hpp"
#include "load_horizon.hpp"
#include "tests/checks.hpp"

#include <algorithm>
#include <cmath>

namespace noctule {

namespace {

// Pours the load over small slices of time.
double poured(double now, double load, std::uint32_t n_free,
              const std::vector<ComingHosts>& coming) {
    constexpr double slice = 1.0 / 1024;
    for (double date = now; date < now + 1000; date += slice) {
        double n = n_free;
        for (const ComingHosts& some : coming) {
            n += some.time <= date + slice / 2 ? some.n_hosts : 0;
        }
        load -= n * slice;
        if (load <= 0) {
            return date + slice - now;
        }
    }
    return infinity;
}

void horizons_are_as_far_as_the_load_reaches() {
    Random random(12);
    for (int round = 0; round < 60; ++round) {
        const double now = draw(random, 0, 20);
        const double load = draw(random, 1, 60);
        const std::uint32_t n_free = draw(random, 0, 3);
        std::vector<ComingHosts> coming;
        for (std::uint32_t i = draw(random, 0, 4); i > 0; --i) {
            coming.push_back({static_cast<double>(draw(random, 0, 40)), draw(random, 1, 3)});
        }
        std::ranges::sort(coming, {}, &ComingHosts::time);
        LoadHorizon horizon;
        std::vector<ComingHosts> steps = coming;
        horizon.restart(now, load, n_free, steps);
        const double seconds = draw(random, 1, 15);
        double sampled = 0.0;
        for (int i = 0; i < 60; ++i) {
            sampled += poured(now + (i + 0.5) * seconds / 60, load, n_free, coming) * seconds / 60;
        }
        const double value = poured(now, load, n_free, coming);
        CHECK(horizon.value() == value || std::abs(horizon.value() - value) < 0.01);
        // in two steps, to go on from where the first has led to
        const double half = horizon.advance(now + seconds / 2);
        const double integral = half + horizon.advance(now + seconds);
        CHECK(integral == sampled ||
              std::abs(integral - sampled) < 0.01 * seconds + 0.02 * sampled);
        const double later = poured(now + seconds, load, n_free, coming);
        CHECK(horizon.value() == later || std::abs(horizon.value() - later) < 0.01);
    }
}

void horizons_without_a_load_or_hosts() {
    LoadHorizon horizon;
    std::vector<ComingHosts> none;
    CHECK(horizon.advance(5) == 0 && horizon.value() == 0);
    horizon.restart(5, 10, 0, none);
    CHECK(horizon.value() == infinity && horizon.advance(5) == 0);
    CHECK(horizon.advance(6) == infinity && horizon.now() == 6);
    horizon.restart(6, infinity, 4, none);
    CHECK(horizon.value() == infinity);
    horizon.restart(6, 0, 0, none);
    CHECK(horizon.value() == 0 && horizon.advance(9) == 0);
}

// One host: A runs from 0 to 4 of at most 10, B waits from 2 on for 3 s of work.
void histories_follow_a_schedule() {
    const std::vector<double> submit{0, 2};
    const std::vector<double> start{0, 4};
    const std::vector<double> finish{4, 7};
    const std::vector<double> walltime{10, 3};
    const std::vector<std::uint32_t> n_hosts{1, 1};
    const std::vector<double> idle_time{0, 7};
    const std::vector<std::uint32_t> n_idle{0, 1};
    const LoadHistory history =
        load_history({submit, start, finish, walltime, n_hosts, idle_time, n_idle, {}, {}, {}});
    // from 2 to 4 the load is done at 13
    CHECK((history.time == std::vector<double>{0, 2, 4, 7}));
    CHECK((history.mean == std::vector<double>{0, 10, 0, 0}));
}

void gaps_are_what_jobs_leave() {
    const HostSet both = HostSet::from_intervals({{0, 1}});
    const HostSet one = HostSet::from_intervals({{1, 1}});
    const std::vector<const HostSet*> hosts{&one, &both, &one};
    const std::vector<double> start{8, 2, not_a_time};
    const std::vector<double> finish{not_a_time, 5, not_a_time};
    const HostGaps gaps = host_gaps(hosts, start, finish, 3, 1, 10);
    CHECK((gaps.host == std::vector<HostId>{0, 1, 1, 0, 2}));
    CHECK((gaps.begin == std::vector<double>{1, 1, 5, 5, 1}));
    CHECK((gaps.end == std::vector<double>{2, 2, 8, 10, 10}));
}

} // namespace

void test_load() {
    horizons_are_as_far_as_the_load_reaches();
    horizons_without_a_load_or_hosts();
    histories_follow_a_schedule();
    gaps_are_what_jobs_leave();
}

} // namespace noctule
