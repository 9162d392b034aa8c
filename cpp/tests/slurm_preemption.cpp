// Who makes way for whom, by hand; and that victims are enough, and each of them on the nodes.
#include "slurm/preemption.hpp"
#include "slurm/select.hpp"
#include "tests/checks.hpp"

#include <algorithm>

namespace noctule {

namespace {

using namespace slurm;

NodeSet nodes(std::initializer_list<NodeIndex> members_of) {
    NodeSet set(8);
    for (const NodeIndex node : members_of) {
        set.add(node);
    }
    return set;
}

struct Site {
    Settings settings;
    Requests requests = Requests(6);
    NodeSet first = nodes({0, 1});
    NodeSet second = nodes({2});
    NodeSet third = nodes({3});

    Site() {
        settings.nodes.resize(8);
        const auto mode = PreemptMode::requeue;
        settings.partitions = {
            {.name = "low", .nodes = NodeSet(8, true), .preempt_mode = mode, .grace_time = 7},
            {.name = "high", .nodes = NodeSet(8, true), .priority_tier = 10, .preempt_mode = mode},
            {.name = "kept", .nodes = NodeSet(8, true)},
            {.name = "away", .nodes = nodes({7}), .priority_tier = 20}};
        settings.parameters.preempt_type = PreemptType::partition_prio;
    }
    std::vector<RunningJob> running() const {
        return {{0, 0, 100, &first}, {1, 0, 200, &second}, {2, 1, 300, &third}, {3, 2, 50, &third}};
    }
    std::vector<JobIndex> candidates(std::uint32_t partition, Seconds now = 1000) const {
        std::vector<JobIndex> jobs;
        const Preemption preemption(settings, requests);
        for (const RunningJob& one : preemption.candidates({5, partition, 0}, running(), now)) {
            jobs.push_back(one.job);
        }
        return jobs;
    }
};

using Jobs = std::vector<JobIndex>;

void higher_tiers_preempt_lower_ones() {
    Site site;
    // The smaller job first; neither those of the same tier nor those whose mode is OFF.
    CHECK(site.candidates(1) == (Jobs{1, 0}));
    CHECK(site.candidates(0).empty());
    CHECK(site.candidates(3).empty()); // no node in common
    site.settings.parameters.preempt_youngest_first = true;
    CHECK(site.candidates(1) == (Jobs{1, 0}));
    site.first = nodes({0});
    site.second = nodes({1, 2});
    CHECK(site.candidates(1) == (Jobs{1, 0}));
    site.settings.parameters.preempt_youngest_first = false;
    CHECK(site.candidates(1) == (Jobs{0, 1}));
    site.settings.parameters.preempt_exempt_time = 850; // job 0 has run 900 s
    CHECK(site.candidates(1) == (Jobs{0}));
    const Preemption preemption(site.settings, site.requests);
    CHECK(preemption.is_on() && preemption.grace_time(site.running()[0]) == 7);
    CHECK(preemption.mode(site.running()[0]) == PreemptMode::requeue);
}

void a_qos_preempts_those_of_its_list() {
    Site site;
    site.settings.parameters.preempt_type = PreemptType::qos;
    site.settings.parameters.preempt_mode = PreemptMode::cancel;
    site.settings.accounting.qos = {{.name = "scavenge", .priority = 1, .grace_time = 60},
                                    {.name = "normal", .priority = 5},
                                    {.name = "urgent", .priority = 9, .preempts = {0, 1}}};
    site.requests[0].qos = 1;
    site.requests[1].qos = 0;
    site.requests[2].qos = 2;
    site.requests[5].qos = 2;
    CHECK(site.candidates(0) == (Jobs{1, 0})); // job 3 has no QOS
    site.settings.accounting.qos[1].preempt_mode = PreemptMode::off;
    CHECK(site.candidates(0) == (Jobs{1}));
    site.settings.accounting.qos[0].preempt_exempt_time = 900;
    CHECK(site.candidates(0).empty());
    const Preemption preemption(site.settings, site.requests);
    CHECK(preemption.grace_time(site.running()[1]) == 60);
    CHECK(preemption.mode(site.running()[1]) == PreemptMode::cancel);
    CHECK(preemption.mode(site.running()[3]) == PreemptMode::off);
}

// A job of so many nodes fits on the lowest of those that are free or become free.
std::optional<NodeSet> lowest(const NodeSet& free, const std::vector<RunningJob>& running,
                              std::span<const JobIndex> gone, std::uint32_t n) {
    NodeSet all = free;
    for (const RunningJob& one : running) {
        if (std::ranges::find(gone, one.job) != gone.end()) {
            all |= *one.nodes;
        }
    }
    NodeSet chosen(8);
    all.for_each([&](NodeIndex node) {
        if (chosen.count() < n) {
            chosen.add(node);
        }
    });
    return chosen.count() == n ? std::optional(chosen) : std::nullopt;
}

void only_jobs_that_help_are_victims() {
    const NodeSet a = nodes({0});
    const NodeSet b = nodes({1});
    const NodeSet c = nodes({2, 3, 4});
    const std::vector<RunningJob> running{{0, 0, 0, &a}, {1, 0, 0, &b}, {2, 0, 0, &c}};
    const auto victims = [&](std::uint32_t n, const Parameters& parameters) {
        return choose_victims(
            running,
            [&](std::span<const JobIndex> gone) { return lowest(NodeSet(8), running, gone, n); },
            parameters);
    };
    Parameters parameters;
    CHECK(victims(1, parameters) == (Jobs{0}));
    // Three nodes: 0 and 1 are not enough, with 2 they are; but 2 alone would have been.
    CHECK(victims(3, parameters) == (Jobs{2}));
    // Four: 2 and 0, in the order of the third round, where 0 came last in the second.
    CHECK(victims(4, parameters) == (Jobs{0, 2}));
    parameters.preempt_strict_order = true;
    CHECK(victims(3, parameters) == (Jobs{2}));
    CHECK(!victims(6, parameters));
}

// Both plugins say where a job would start without some of the running ones.
void plugins_fit_jobs_without_others() {
    for (const bool is_linear : {true, false}) {
        Settings settings;
        for (HostId i = 0; i < 2; ++i) {
            settings.nodes.push_back({.cpus = 1, .first_host = i});
        }
        settings.partitions = {{.name = "main", .nodes = NodeSet(2, true)}};
        settings.parameters.select.type = is_linear ? SelectType::linear : SelectType::cons_tres;
        const NodeStates states{NodeSet(2, true), NodeSet(2), NodeSet(2)};
        const auto select = (is_linear ? make_select_linear : make_select_cons)(settings, states);
        const Request one{.partitions = {0}, .max_nodes = 1};
        const Request two{.partitions = {0}, .min_nodes = 2, .max_nodes = 2};
        const auto trial = [&](const Request& request, std::span<const JobIndex> gone = {}) {
            return Trial{9,
                         request,
                         settings.partitions[0],
                         settings.partitions[0].nodes,
                         request.min_nodes,
                         request.max_nodes,
                         no_date,
                         gone};
        };
        for (const JobIndex job : {0U, 1U}) {
            select->allocate(job, one, *select->run_now(trial(one)), 1000);
        }
        const Jobs second{1};
        const Jobs both{1, 0};
        CHECK(!select->run_without(trial(one)));
        CHECK(select->run_without(trial(one, second))->nodes.contains(1));
        CHECK(!select->run_without(trial(two, second)));
        CHECK(select->run_without(trial(two, both))->nodes.count() == 2);
        CHECK(!select->run_now(trial(one))); // nothing has gone
    }
}

void victims_are_enough_and_none_is_elsewhere() {
    Random random(71);
    for (int round = 0; round < 500; ++round) {
        std::vector<NodeSet> held(draw(random, 1, 5), NodeSet(8));
        NodeSet free(8, true);
        for (NodeIndex node = 0; node < 8; ++node) {
            const std::uint32_t who = draw(random, 0, 6);
            if (who < held.size()) {
                held[who].add(node);
                free.remove(node);
            }
        }
        std::vector<RunningJob> running;
        for (JobIndex job = 0; job < held.size(); ++job) {
            running.push_back({job, 0, 0, &held[job]});
        }
        const std::uint32_t n = draw(random, 1, 8);
        const auto fits = [&](std::span<const JobIndex> gone) {
            return lowest(free, running, gone, n);
        };
        Parameters parameters;
        parameters.preempt_reorder_count = draw(random, 0, 3);
        parameters.preempt_strict_order = draw(random, 0, 1) == 1;
        const auto victims = choose_victims(running, fits, parameters);
        std::uint32_t n_all = free.count();
        for (const NodeSet& set : held) {
            n_all += set.count();
        }
        CHECK(victims.has_value() == (n_all >= n));
        if (victims) {
            CHECK(fits(*victims).has_value());
        }
    }
}

} // namespace

void test_slurm_preemption() {
    higher_tiers_preempt_lower_ones();
    a_qos_preempts_those_of_its_list();
    only_jobs_that_help_are_victims();
    plugins_fit_jobs_without_others();
    victims_are_enough_and_none_is_elsewhere();
}

} // namespace noctule
