// Shared nodes as select/cons_tres chooses them: by hand, and against plain searches.
#include "slurm/select_cons.hpp"
#include "tests/checks.hpp"

#include <algorithm>
#include <map>

namespace noctule {

namespace {

using namespace slurm;
using Shares = std::vector<NodeShare>;

// Free CPUs of node 0, 1, ...: nodes without any offer nothing.
Offers offers_of(const std::vector<std::uint32_t>& free) {
    Offers offers;
    for (NodeIndex node = 0; node < free.size(); ++node) {
        if (free[node] > 0) {
            offers.nodes.push_back({node, free[node], free[node], 48});
        }
    }
    return offers;
}

// `-n cpus`, on as many nodes as it takes.
Demand tasks(std::int64_t cpus) {
    Demand demand;
    demand.cpus = demand.tasks = cpus;
    demand.max_nodes = 1000;
    return demand;
}

// `-N min-max -n cpus`
Demand tasks_on(std::int64_t min_nodes, std::int64_t max_nodes, std::int64_t cpus) {
    Demand demand = tasks(cpus);
    demand.min_nodes = min_nodes;
    demand.wanted_nodes = demand.max_nodes = max_nodes;
    return demand;
}

void nodes_are_chosen_by_best_fit() {
    const auto chosen = [](const std::vector<std::uint32_t>& free, const Demand& demand) {
        return choose_nodes(offers_of(free), demand, {}).value_or(Shares{});
    };
    // The node with the fewest CPUs that are enough, in the tightest run that is enough.
    CHECK(chosen({48, 12, 20, 0, 40}, tasks(10)) == (Shares{{4, 10}}));
    CHECK(chosen({48, 12, 20}, tasks(10)) == (Shares{{1, 10}}));
    CHECK(chosen({48, 12, 20}, tasks(20)) == (Shares{{2, 20}}));
    // No node is enough: upwards from the lowest of the run, and the last gets what is left.
    CHECK(chosen({16, 48, 36}, tasks(96)) == (Shares{{0, 16}, {1, 48}, {2, 32}}));
    // No run is enough: the largest run comes first, so node 0 gets what is left.
    CHECK(chosen({16, 0, 0, 48, 36}, tasks(96)) == (Shares{{0, 12}, {3, 48}, {4, 36}}));
    CHECK(chosen({16, 0, 0, 48, 36}, tasks(101)).empty());
    // Each node leaves a CPU for each node to come.
    CHECK(chosen({48, 48, 48, 48}, tasks_on(4, 4, 10)) == (Shares{{0, 7}, {1, 1}, {2, 1}, {3, 1}}));
    // A range of nodes: as many as wanted if there are, at least the minimum if not.
    CHECK(chosen({48, 48, 48}, tasks_on(2, 3, 3)) == (Shares{{0, 1}, {1, 1}, {2, 1}}));
    CHECK(chosen({48, 48, 48}, tasks_on(1, 2, 4)) == (Shares{{0, 3}, {1, 1}}));
    CHECK(chosen({48, 48}, tasks_on(2, 3, 3)).size() == 2);
    CHECK(chosen({48}, tasks_on(2, 3, 3)).empty());
    // At most two nodes for 80: 16 + 48 is not enough, so the small node is left out.
    CHECK(chosen({16, 48, 48}, tasks_on(1, 2, 80)) == (Shares{{1, 48}, {2, 32}}));
    // Four tasks of three CPUs: two fit on seven CPUs and one on the five that are then due; the
    // fourth gets the CPU that the first node has left.
    Demand threes = tasks(12);
    threes.tasks = 4;
    threes.cpus_of_a_task = threes.cpus_of_a_node = 3;
    CHECK(chosen({7, 8}, threes) == (Shares{{0, 7}, {1, 3}}));
    // As many nodes as tasks at most.
    CHECK(chosen({1, 0, 1, 0, 1}, tasks(2)).size() == 2);
}

void weights_and_required_nodes_come_first() {
    Offers offers = offers_of({48, 48, 48, 48, 48});
    offers.nodes[0].weight = offers.nodes[1].weight = 10;
    CHECK(*choose_nodes(offers, tasks(8), {}) == (Shares{{2, 8}}));
    // All light nodes, then what is missing of the heavy ones.
    CHECK(*choose_nodes(offers, tasks(150), {}) == (Shares{{0, 6}, {2, 48}, {3, 48}, {4, 48}}));

    offers = offers_of({48, 48, 48, 48, 48});
    offers.nodes[2].required = true;
    // From the required node up, then down.
    CHECK(*choose_nodes(offers, tasks_on(2, 2, 2), {}) == (Shares{{2, 1}, {3, 1}}));
    CHECK(*choose_nodes(offers, tasks_on(4, 4, 4), {}) == (Shares{{1, 1}, {2, 1}, {3, 1}, {4, 1}}));

    Demand contiguous = tasks_on(2, 2, 2);
    contiguous.contiguous = true;
    CHECK(*choose_nodes(offers_of({48, 0, 48, 48, 48}), contiguous, {}) ==
          (Shares{{2, 1}, {3, 1}}));
    CHECK(!choose_nodes(offers_of({48, 0, 48, 0, 48}), contiguous, {}));
}

void other_rules_order_nodes() {
    Demand demand = tasks(4);
    demand.rule = ChoiceRule::least_loaded;
    CHECK(*choose_nodes(offers_of({10, 40, 30, 40}), demand, {}) == (Shares{{1, 4}}));
    demand.rule = ChoiceRule::serial_at_end;
    CHECK(*choose_nodes(offers_of({10, 40, 30, 40}), demand, {}) == (Shares{{3, 4}}));
    demand.rule = ChoiceRule::busy_first;
    Offers offers = offers_of({48, 40, 30, 40});
    offers.nodes[2].idle = false;
    // The busy node would do: the first idle one is taken all the same.
    CHECK(*choose_nodes(offers, demand, {}) == (Shares{{0, 1}, {2, 3}}));
    demand = tasks(60);
    demand.rule = ChoiceRule::busy_first;
    CHECK(*choose_nodes(offers, demand, {}) == (Shares{{0, 30}, {2, 30}}));
}

void jobs_ask_for_gres_of_any_nodes() {
    // Nodes 0-3 have 1, 0, 2 and 4 GPUs; three are wanted by the job.
    Offers offers = offers_of({8, 8, 8, 8});
    offers.gres = {1, 0, 2, 4};
    Demand demand = tasks(1);
    demand.gres = {3};
    CHECK(*choose_nodes(offers, demand, {}) == (Shares{{3, 1}}));
    demand.gres = {5}; // which no single node has: one task is on one node
    CHECK(!choose_nodes(offers, demand, {}));
    demand.tasks = 0;
    demand.gres = {7};
    CHECK(choose_nodes(offers, demand, {})->size() >= 3);
    demand.gres = {8};
    CHECK(!choose_nodes(offers, demand, {}));
}

NodeSet range(std::uint32_t n, NodeIndex first, NodeIndex last) {
    NodeSet nodes(n);
    nodes.add(NodeRun{first, last - first + 1});
    return nodes;
}

// Leaves of four nodes each, two below each switch, one above all.
std::vector<Settings::Switch> sixteen_nodes() {
    return {{range(16, 0, 3), 0, 4},    {range(16, 4, 7), 0, 4}, {range(16, 8, 11), 0, 5},
            {range(16, 12, 15), 0, 5},  {range(16, 0, 7), 1, 6}, {range(16, 8, 15), 1, 6},
            {range(16, 0, 15), 2, none}};
}

void switches_keep_jobs_together() {
    const auto switches = sixteen_nodes();
    const auto nodes = [&](const std::vector<std::uint32_t>& free, std::int64_t n) {
        Demand demand = tasks_on(n, n, n);
        demand.rule = ChoiceRule::switches;
        std::vector<NodeIndex> chosen;
        for (const NodeShare& share :
             choose_nodes(offers_of(free), demand, switches).value_or(Shares{})) {
            chosen.push_back(share.node);
        }
        return chosen;
    };
    using Nodes = std::vector<NodeIndex>;
    //                  leaf 0      leaf 1      leaf 2      leaf 3
    CHECK(nodes({1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0, 0, 0}, 2) == (Nodes{5, 6}));
    CHECK(nodes({1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0, 0, 0}, 3) == (Nodes{8, 9, 10}));
    // No leaf has five: those of the smaller switch that has, its larger leaf first.
    CHECK(nodes({1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1}, 5) == (Nodes{8, 12, 13, 14, 15}));
    CHECK(nodes({1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1}, 14).empty());
    CHECK(nodes({1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1}, 13).size() == 13);
}

// Node lists of `-n cpus` as the plainest search finds them: by index over all nodes.
Shares naive_choice(std::vector<std::uint32_t> free, std::int64_t cpus) {
    struct Stretch {
        std::size_t first, last;
        std::int64_t cpus;
    };
    std::vector<Stretch> stretches;
    for (std::size_t i = 0; i < free.size(); ++i) {
        if (free[i] > 0 && (i == 0 || free[i - 1] == 0)) {
            stretches.push_back({i, i, 0});
        }
        if (free[i] > 0) {
            stretches.back().last = i;
            stretches.back().cpus += free[i];
        }
    }
    std::map<NodeIndex, std::uint32_t> chosen;
    std::int64_t left = cpus;
    const auto take = [&](std::size_t i) {
        const std::int64_t got = std::min<std::int64_t>(left, free[i]);
        chosen[static_cast<NodeIndex>(i)] = static_cast<std::uint32_t>(got);
        left -= got;
    };
    while (left > 0 && !stretches.empty()) {
        const auto key = [&](const Stretch& s) {
            return s.cpus >= left ? std::pair(0, s.cpus) : std::pair(1, -s.cpus);
        };
        const auto best = std::ranges::min_element(stretches, {}, key);
        std::size_t only = free.size();
        for (std::size_t i = best->first; i <= best->last; ++i) {
            if (free[i] >= left && (only == free.size() || free[i] < free[only])) {
                only = i;
            }
        }
        if (only < free.size()) {
            take(only);
        }
        for (std::size_t i = best->first; left > 0 && i <= best->last; ++i) {
            take(i);
        }
        stretches.erase(best);
    }
    Shares shares;
    for (const auto& [node, share] : chosen) {
        shares.push_back({node, share});
    }
    return left > 0 ? Shares{} : shares;
}

void choices_are_those_of_a_plain_search() {
    Random random(41);
    for (int i = 0; i < 3000; ++i) {
        std::vector<std::uint32_t> free(draw(random, 1, 20));
        for (std::uint32_t& cpus : free) {
            cpus = draw(random, 0, 2) == 0 ? 0 : draw(random, 1, 12);
        }
        const std::int64_t wanted = draw(random, 1, 80);
        CHECK(choose_nodes(offers_of(free), tasks(wanted), {}).value_or(Shares{}) ==
              naive_choice(free, wanted));
    }
}

// Nodes of 2 sockets of 4 cores, 1000 MB.
struct Cluster {
    Settings settings;
    NodeStates states;
    std::unique_ptr<SelectCons> select;
    JobIndex n_jobs = 0;

    explicit Cluster(std::uint32_t n_nodes, std::uint32_t threads = 1) {
        for (std::uint32_t i = 0; i < n_nodes; ++i) {
            settings.nodes.push_back({.cpus = 8 * threads,
                                      .sockets = 2,
                                      .cores_per_socket = 4,
                                      .threads_per_core = threads,
                                      .memory_mb = 1000,
                                      .first_host = 8 * i,
                                      .n_hosts = 8});
        }
        settings.partitions.push_back({.name = "main", .nodes = NodeSet(n_nodes, true)});
        settings.parameters.select = {.type = SelectType::cons_tres,
                                      .unit = SelectParameters::Unit::core};
        states = {NodeSet(n_nodes, true), NodeSet(n_nodes), NodeSet(n_nodes)};
    }

    SelectCons& open() {
        if (!select) {
            select = std::make_unique<SelectCons>(settings, states);
        }
        return *select;
    }
    Trial trial(const Request& request) {
        return {n_jobs,
                request,
                settings.partitions[0],
                settings.partitions[0].nodes,
                request.min_nodes,
                request.wanted_nodes()};
    }
    std::optional<Choice> start(const Request& request, Seconds end = 1000) {
        const auto choice = open().run_now(trial(request));
        if (choice) {
            select->allocate(n_jobs++, request, *choice, end);
        }
        return choice;
    }
    std::string hosts(const Request& request) {
        const auto choice = start(request);
        return choice ? choice->hosts.to_string() : "none";
    }
};

void jobs_share_nodes_core_by_core() {
    Cluster cluster(2);
    CHECK(cluster.hosts({.tasks = 3}) == "0-2");
    CHECK(cluster.hosts({.tasks = 2}) == "3-4");
    CHECK(cluster.hosts({.tasks = 2, .cpus_per_task = 2}) == "8-11"); // node 0 has 3 left
    // The three CPUs that node 0 has left, and three of the four of node 1.
    CHECK(cluster.hosts({.tasks = 2, .cpus_per_task = 3}) == "5-7 12-14");
    cluster.select->release(3);
    CHECK(cluster.hosts({.exclusive = true}) == "none");
    cluster.select->release(2);
    CHECK(cluster.open().idle().count() == 1);
    CHECK(cluster.hosts({.exclusive = true}) == "8-15");
    CHECK(cluster.hosts({.tasks = 4}) == "none");
    cluster.states.completing.add(0);
    CHECK(cluster.hosts({.tasks = 1}) == "none");
    CHECK(cluster.open().will_run(cluster.trial({.tasks = 1}), 5, true)->start == 5);
}

void sockets_and_threads_are_given_whole() {
    Cluster sockets(1);
    sockets.settings.parameters.select.unit = SelectParameters::Unit::socket;
    CHECK(sockets.hosts({.tasks = 1}) == "0-3");
    CHECK(sockets.hosts({.tasks = 5}) == "none");
    CHECK(sockets.hosts({.tasks = 4}) == "4-7");
    Cluster round(1); // tasks go from socket to socket
    round.settings.parameters.select.unit = SelectParameters::Unit::socket;
    CHECK(round.hosts({.tasks = 2}) == "0-7");
    Cluster packed(1); // but those of several CPUs fill one first
    packed.settings.parameters.select.unit = SelectParameters::Unit::socket;
    CHECK(packed.hosts({.tasks = 2, .cpus_per_task = 2}) == "0-3");
    Cluster block(1);
    block.settings.parameters.select.unit = SelectParameters::Unit::socket;
    block.settings.parameters.select.core_default_block = true;
    CHECK(block.hosts({.tasks = 2}) == "0-3");

    Cluster threads(1, 2);
    const auto choice = threads.start({.tasks = 3});
    CHECK(choice->hosts.to_string() == "0-1" && choice->cpus == 4);
    Cluster apart(1, 2);
    apart.settings.parameters.select.one_task_per_core = true;
    CHECK(apart.hosts({.tasks = 3}) == "0-2");
    CHECK(apart.hosts({.tasks = 6}) == "none");
}

void memory_is_shared_too() {
    Cluster cluster(2);
    cluster.settings.parameters.select.memory = true;
    CHECK(cluster.hosts({.tasks = 1, .memory_mb = 700}) == "0");
    CHECK(cluster.hosts({.tasks = 1, .memory_mb = 400}) == "8");
    // 300 MB are left on node 0, 600 on node 1: three CPUs of 100, and six.
    CHECK(cluster.hosts({.tasks = 9, .memory_mb = 100, .memory_is_per_cpu = true}) == "1-3 9-14");
    CHECK(cluster.hosts({.tasks = 1, .memory_mb = 1}) == "none");
    // Nothing asked for and no default: all of a node.
    Cluster all(1);
    all.settings.parameters.select.memory = true;
    CHECK(all.hosts({.tasks = 1}) == "0");
    CHECK(all.hosts({.tasks = 1, .memory_mb = 1}) == "none");
}

void gpus_have_types_and_families() {
    Cluster cluster(2);
    cluster.settings.gres_kinds = {"gpu", "gpu:a100", "gpu:v100"};
    cluster.settings.nodes[0].gres = {4, 2, 2};
    cluster.settings.nodes[1].gres = {1, 1, 0};
    CHECK(cluster.hosts({.tasks = 1, .gres = {{.kind = 2, .per_node = 1}}}) == "0");
    CHECK(cluster.hosts({.tasks = 1, .gres = {{.kind = 0, .per_node = 3}}}) == "1"); // 2 + 1
    CHECK(cluster.hosts({.tasks = 1, .gres = {{.kind = 1, .per_node = 1}}}) == "8");
    CHECK(cluster.hosts({.tasks = 1, .gres = {{.kind = 0, .per_node = 1}}}) == "none");
    cluster.select->release(1);
    CHECK(cluster.hosts({.tasks = 4, .gres = {{.kind = 1, .per_task = 1}}}) == "none");
    CHECK(cluster.hosts({.tasks = 2, .gres = {{.kind = 1, .per_task = 1}}}) == "1-2");
    cluster.select->release(2);
    // One V100 of node 0 and the A100 of node 1.
    CHECK(cluster.hosts({.min_nodes = 2, .max_nodes = 2, .gres = {{.kind = 0, .per_job = 2}}}) ==
          "3 8");
}

void partitions_bound_the_cpus_of_a_node() {
    Cluster cluster(2);
    cluster.settings.partitions[0].max_cpus_per_node = 3;
    CHECK(cluster.hosts({.tasks = 2}) == "0-1");
    CHECK(cluster.hosts({.tasks = 2}) == "8-9");
    CHECK(cluster.hosts({.tasks = 2}) == "2 10");
    CHECK(cluster.hosts({.tasks = 1}) == "none");
}

void predictions_remove_jobs_in_groups() {
    Cluster cluster(1);
    for (const Seconds end : {100, 125, 151, 400}) {
        cluster.start({.tasks = 2}, end);
    }
    const auto start = [&](std::uint32_t n, Seconds now = 10) {
        const auto found = cluster.open().will_run(cluster.trial({.tasks = n}), now, false);
        return found ? found->start : -1;
    };
    // The first end is rounded up to 120, the window is 30: the first group ends by 150, the
    // second (60) by 180, the third by 240, 360 or 600.
    CHECK(start(2) == 125);
    CHECK(start(4) == 125);
    CHECK(start(5) == 151);
    CHECK(start(7) == 400);
    CHECK(start(9) == -1);
    CHECK(!cluster.open().will_run(cluster.trial({.tasks = 2}), 10, true));
    CHECK(start(2, 130) == 155); // overdue: its limit and KillWait
    CHECK(start(2, 200) == 201);
    cluster.settings.parameters.bf_window_linear = 20; // the second group ends by 170
    CHECK(start(5) == 151);
    cluster.select->set_expected_end(1, 300);
    CHECK(start(2) == 100);
    CHECK(start(3) == 151);
    CHECK(cluster.open().take_prediction_steps() > 0);
}

// Whatever happens, no core is held twice, and what is released is free again.
void books_stay_balanced() {
    Random random(43);
    for (int round = 0; round < 60; ++round) {
        Cluster cluster(draw(random, 1, 6), draw(random, 1, 2));
        auto& parameters = cluster.settings.parameters.select;
        parameters.memory = draw(random, 0, 1) == 1;
        parameters.unit =
            draw(random, 0, 3) == 0 ? SelectParameters::Unit::socket : SelectParameters::Unit::core;
        cluster.settings.gres_kinds = {"gpu"};
        for (Node& node : cluster.settings.nodes) {
            node.gres = {draw(random, 0, 4)};
        }
        std::map<JobIndex, Choice> held;
        std::set<HostId> busy;
        for (int step = 0; step < 60; ++step) {
            Request request{.min_nodes = draw(random, 1, 2),
                            .tasks = draw(random, 1, 9),
                            .cpus_per_task = draw(random, 1, 3),
                            .memory_mb = draw(random, 1, 300),
                            .exclusive = draw(random, 0, 9) == 0};
            if (draw(random, 0, 2) == 0) {
                request.gres = {{.kind = 0, .per_node = draw(random, 1, 2)}};
            }
            if (const auto choice = cluster.start(request)) {
                std::size_t n_new = 0;
                for (const HostId host : members(choice->hosts)) {
                    n_new += busy.insert(host).second ? 1 : 0;
                }
                CHECK(n_new == choice->hosts.size());
                CHECK(choice->cpus >= request.tasks); // tasks of several may have less
                CHECK(choice->nodes.count() >= request.min_nodes);
                held[cluster.n_jobs - 1] = *choice;
            } else if (!held.empty()) {
                const auto ended = std::next(held.begin(), draw(random, 0, 99) % held.size());
                for (const HostId host : members(ended->second.hosts)) {
                    busy.erase(host);
                }
                cluster.select->release(ended->first);
                held.erase(ended);
            }
            NodeSet idle(cluster.settings.n_nodes(), true);
            for (const auto& [job, choice] : held) {
                idle -= choice.nodes;
            }
            CHECK(cluster.select->idle() == idle);
        }
        while (!held.empty()) {
            cluster.select->release(held.begin()->first);
            held.erase(held.begin());
        }
        CHECK(cluster.hosts({.min_nodes = cluster.settings.n_nodes(), .exclusive = true}) ==
              HostSet::from_intervals({{0, 8 * cluster.settings.n_nodes() - 1}}).to_string());
    }
}

} // namespace

void test_slurm_select() {
    nodes_are_chosen_by_best_fit();
    weights_and_required_nodes_come_first();
    other_rules_order_nodes();
    jobs_ask_for_gres_of_any_nodes();
    switches_keep_jobs_together();
    choices_are_those_of_a_plain_search();
    jobs_share_nodes_core_by_core();
    sockets_and_threads_are_given_whole();
    memory_is_shared_too();
    gpus_have_types_and_families();
    partitions_bound_the_cpus_of_a_node();
    predictions_remove_jobs_in_groups();
    books_stay_balanced();
}

} // namespace noctule
