// Fair share, usage and priorities: by hand, and fair tree against sorting by paths.
#include "slurm/fair_share.hpp"
#include "slurm/multifactor.hpp"
#include "tests/checks.hpp"

#include <algorithm>
#include <cmath>

namespace noctule {

namespace {

using namespace slurm;

bool close(double a, double b) { return std::abs(a - b) < 1e-9; }

Association account(std::uint32_t parent, std::optional<std::uint32_t> shares = 1) {
    return {.parent = parent, .shares = shares};
}

Association user(std::uint32_t parent, std::optional<std::uint32_t> shares = 1) {
    return {.parent = parent, .is_user = true, .shares = shares};
}

void fair_tree_ranks_users() {
    //  root (100)
    //    a 60 shares, used 70: 0.6 / 0.7 = 0.86      b 40 shares, used 30: 0.4 / 0.3 = 1.33
    //      a1 10, used 10: 0.25 / (1/7) = 1.75          b1 10, used 25: 0.5 / (25/30) = 0.6
    //      a2 30, used 60: 0.75 / (6/7) = 0.875         b2 10, used  5: 0.5 / (5/30) = 3
    // so b2, b1, a1, a2.
    const std::vector<Association> tree{account(none), account(0, 60), account(0, 40), user(1, 10),
                                        user(1, 30),   user(2, 10),    user(2, 10)};
    const std::vector<double> usage{100, 70, 30, 10, 60, 25, 5};
    const auto factors = fair_tree(tree, usage);
    CHECK(close(factors[6], 1.0) && close(factors[5], 0.75) && close(factors[3], 0.5) &&
          close(factors[4], 0.25));
    CHECK(factors[0] == 0 && factors[1] == 0);
    // Nobody has used anything: all are equal.
    for (const double factor : fair_tree(tree, std::vector<double>(7, 0.0))) {
        CHECK(factor == 0 || factor == 1);
    }
}

void fair_tree_shares_ranks_among_equals() {
    // Three users at the root: two equal, then one that used more. Ranks 3, 3, 1.
    std::vector<Association> tree{account(none), user(0), user(0), user(0)};
    auto factors = fair_tree(tree, std::vector<double>{4, 1, 1, 2});
    CHECK(close(factors[1], 1.0) && close(factors[2], 1.0) && close(factors[3], 1.0 / 3));

    // A user and two accounts, all equal: the user first, at rank 5; the first account starts
    // tied, so its better user has 5 too and the other 3; the second starts tied with that one:
    // 3, and the last 1.
    tree = {account(none), account(0), account(0), user(0), user(1), user(1), user(2), user(2)};
    factors = fair_tree(tree, std::vector<double>{12, 4, 4, 4, 1, 3, 1, 3});
    CHECK(close(factors[3], 1.0) && close(factors[4], 1.0) && close(factors[5], 0.6));
    CHECK(close(factors[6], 0.6) && close(factors[7], 0.2));

    // Fairshare=parent puts a user first, no shares last; an account with it stands back.
    tree = {account(none), user(0, {}), user(0, 0), user(0, 1)};
    factors = fair_tree(tree, std::vector<double>{9, 3, 3, 3});
    CHECK(close(factors[1], 1.0) && close(factors[3], 2.0 / 3) && close(factors[2], 1.0 / 3));
    tree = {account(none), account(0, {}), user(1, 1), user(0, 1)};
    factors = fair_tree(tree, std::vector<double>{3, 1, 1, 2});
    CHECK(close(factors[2], 1.0) && close(factors[3], 0.5));
}

// Without ties the rank is the place among the paths from the root, better levels first.
void fair_tree_sorts_by_paths() {
    Random random(51);
    for (int round = 0; round < 200; ++round) {
        std::vector<Association> tree{account(none)};
        for (std::uint32_t n = draw(random, 1, 5); n > 0; --n) {
            tree.push_back(account(draw(random, 0, static_cast<std::uint32_t>(tree.size()) - 1),
                                   draw(random, 1, 9)));
        }
        const auto n_accounts = static_cast<std::uint32_t>(tree.size());
        std::vector<double> usage(n_accounts, 0.0);
        for (std::uint32_t i = 0; i < 12; ++i) {
            tree.push_back(user(draw(random, 0, n_accounts - 1), draw(random, 1, 9)));
            usage.push_back(0.0);
            const double used = 1 + std::generate_canonical<double, 53>(random);
            for (auto at = static_cast<std::uint32_t>(tree.size() - 1); at != none;
                 at = tree[at].parent) {
                usage[at] += used;
            }
        }
        const auto level = [&](std::uint32_t i) {
            double sum = 0;
            for (const Association& other : tree) {
                sum += other.parent == tree[i].parent ? *other.shares : 0;
            }
            return *tree[i].shares / sum / (usage[i] / usage[tree[i].parent]);
        };
        std::vector<std::pair<std::vector<double>, std::uint32_t>> paths;
        for (auto i = n_accounts; i < tree.size(); ++i) {
            std::vector<double> path;
            for (std::uint32_t at = i; tree[at].parent != none; at = tree[at].parent) {
                path.insert(path.begin(), -level(at));
            }
            paths.emplace_back(path, i);
        }
        std::ranges::sort(paths);
        const auto factors = fair_tree(tree, usage);
        for (std::size_t place = 0; place < paths.size(); ++place) {
            CHECK(close(factors[paths[place].second], static_cast<double>(12 - place) / 12));
        }
    }
}

void classic_fair_share_is_a_power_of_two() {
    // a: half the shares, 3/4 of the usage, which is its effective usage below the root.
    // a1: 1/4 of all shares, 1/2 of the usage: 1/2 + (3/4 - 1/2) / 2 = 5/8, so 2^-2.5.
    const std::vector<Association> tree{account(none), account(0), account(0),
                                        user(1),       user(1),    user(2)};
    const std::vector<double> usage{8, 6, 2, 4, 2, 2};
    auto factors = classic_fair_share(tree, usage, 1.0, false);
    CHECK(close(factors[3], std::pow(2, -2.5)));
    CHECK(close(factors[4], std::pow(2, -(0.25 + 0.5 * 0.5) / 0.25)));
    CHECK(close(factors[5], std::pow(2, -0.5)));
    factors = classic_fair_share(tree, usage, 2.0, false);
    CHECK(close(factors[3], std::pow(2, -1.25)));
    // a uses 1.5 of its share, a1 4/3 of what its siblings use: both above, so 1.5 * 4/3.
    // a2 uses 2/3: its ratio counts with the power 1 / (1 + (5 ln 1.5)^2).
    factors = classic_fair_share(tree, usage, 1.0, true);
    CHECK(close(factors[3], std::pow(2, -2.0)));
    const double k = 1 / (1 + std::pow(5 * std::log(1.5), 2));
    CHECK(close(factors[4], std::pow(2, -1.5 * std::pow(2.0 / 3, k))));
    CHECK(close(classic_fair_share(tree, std::vector<double>(6, 0.0), 1.0, false)[3], 1.0));
}

void usage_grows_old() {
    Accounting accounting;
    accounting.associations = {account(none), account(0), user(1), user(0)};
    accounting.qos = {{.usage_factor = 2.0}, {.no_decay = true}};
    UsageBook book(accounting, 2, 100); // a second leaves 0.99307
    const double d = 1 - 0.693 / 100;
    book.add(2, none, 10, 4.0, std::vector<double>{4, 1});
    CHECK(close(book.of_associations()[2], 40 * std::pow(d, 10)));
    CHECK(close(book.of_associations()[0], book.of_associations()[2]));
    CHECK(book.of_associations()[3] == 0);
    book.decay(100);
    CHECK(close(book.of_associations()[1], 40 * std::pow(d, 110)));
    CHECK(close(book.tres_seconds(1, 1), 10 * std::pow(d, 110)));
    book.add(3, 0, 5, 1.0, std::vector<double>{1, 0});
    CHECK(close(book.of_associations()[3], 10 * std::pow(d, 5)));
    CHECK(close(book.qos_wall_seconds(0), 10 * std::pow(d, 5)));
    book.add(3, 1, 5, 1.0, std::vector<double>{1, 0});
    book.decay(50);
    CHECK(close(book.qos_tres_seconds(1, 0), 5));
    book.reset();
    CHECK(book.of_associations()[0] == 0 && book.qos_wall_seconds(1) == 0);
}

// Ten nodes of 48 CPUs.
struct Site {
    Settings settings;
    Requests requests;
    Accounting& accounting = settings.accounting;
    PriorityParameters& parameters = settings.priority;
    std::unique_ptr<Multifactor> opened;

    Site() {
        settings.nodes.assign(10, {.cpus = 48, .memory_mb = 1000});
        settings.partitions = {
            {.name = "main", .nodes = NodeSet(10, true)},
            {.name = "fast", .nodes = NodeSet(10, true), .priority_job_factor = 4}};
    }
    Multifactor& open() {
        if (!opened) {
            opened = std::make_unique<Multifactor>(settings, requests);
        }
        return *opened;
    }
    JobIndex submit(Request request, Seconds now) {
        if (request.partitions.empty()) {
            request.partitions = {0};
        }
        const auto job = static_cast<JobIndex>(requests.size());
        requests.push_back(request);
        open().submit(job, now);
        opened->become_eligible(job, now);
        return job;
    }
    std::uint32_t priority(JobIndex job) const { return opened->of(job, 0); }
    void start(JobIndex job, Seconds now, std::uint32_t n_nodes) {
        NodeSet nodes(10);
        nodes.add(NodeRun{0, n_nodes});
        opened->start(job, now, {.nodes = nodes, .hosts = {}, .cpus = 48 * n_nodes});
    }
};

void sizes_count_as_they_were_tested() {
    Site site;
    site.parameters.weight_job_size = 2000;
    site.parameters.weight_age = 1000; // not without a database
    const JobIndex job = site.submit({.min_nodes = 2}, 100);
    // (2/10 + 2/480) / 2 of 2000: recorded in truth/slurm/multifactor as 204
    CHECK(site.priority(job) == 204);
    CHECK(site.priority(site.submit({.min_nodes = 10}, 100)) == 1020);
    CHECK(!site.open().next_recomputation());

    Site shared;
    shared.parameters.weight_job_size = 1000;
    shared.accounting.has_database = true;
    const JobIndex four = shared.submit({.min_nodes = 4}, 100);
    CHECK(shared.priority(four) == 204);
    shared.open().tested(four, 4 * 48);
    CHECK(shared.priority(four) == 204);
    CHECK(shared.open().recompute(300.5) && shared.priority(four) == 400);

    Site small;
    small.parameters.weight_job_size = 1000;
    small.parameters.favor_small = true;
    CHECK(small.priority(small.submit({.min_nodes = 4}, 1)) == 795); // (6/10 + 476/480) / 2
    Site relative;
    relative.parameters.weight_job_size = 1000;
    relative.parameters.small_relative_to_time = true;
    // four nodes' CPUs for two minutes: 192 / 2 / 480
    CHECK(relative.priority(relative.submit({.min_nodes = 4, .limit = 2}, 1)) == 200);
}

void ages_and_other_factors_add_up() {
    Site site;
    site.accounting.has_database = true;
    site.accounting.qos = {{.priority = 10}, {.priority = 40}};
    site.parameters.weight_age = 1000;
    site.parameters.max_age = 1000;
    site.parameters.weight_qos = 100;
    site.parameters.weight_partition = 10;
    site.parameters.weight_tres = {480.0};
    const JobIndex job =
        site.submit({.partitions = {0, 1}, .min_cpus = 3, .nice = 2, .qos = 0}, 100);
    // QOS 100 * 10/40, partitions 10 * 1/4 and 10 * 4/4, 480 * 3/480, less 2: 28.5 and 36
    CHECK(site.priority(job) == 28 && site.open().of(job, 1) == 36);
    CHECK(site.open().next_recomputation() == 300.0);
    CHECK(site.open().recompute(300.0)); // aged 200 of 1000
    CHECK(site.priority(job) == 228);
    CHECK(site.open().next_recomputation() == 600.0);
    site.open().recompute(4000.0);
    CHECK(site.priority(job) == 1028);
    CHECK(close(site.open().parts(job, 1, 350).age, 250));
    // An explicit priority stays, nice never takes a job below 1.
    CHECK(site.priority(site.submit({.priority = 7}, 4000)) == 7);
    CHECK(site.priority(site.submit({.nice = 9999}, 4000)) == 1);
}

void usage_lowers_priorities_until_it_is_forgotten() {
    Site site;
    site.accounting.has_database = true;
    site.accounting.associations = {account(none), user(0), user(0)};
    site.parameters.weight_fair_share = 1000;
    site.parameters.decay_half_life = 3600;
    site.parameters.usage_reset = UsageReset::daily;
    const JobIndex first = site.submit({.association = 1}, 0);
    CHECK(site.priority(first) == 1000);
    site.start(first, 0, 2);
    const JobIndex second = site.submit({.association = 1}, 10);
    const JobIndex third = site.submit({.association = 2}, 10);
    CHECK(site.priority(second) == 1000); // until it is computed afresh
    CHECK(site.open().recompute(300.0));
    CHECK(site.priority(second) == 500 && site.priority(third) == 1000);
    const double d = 1 - 0.693 / 3600;
    CHECK(close(site.open().usage().of_associations()[1], 300 * std::pow(d, 300) * 96));
    site.open().end(first, 450);
    CHECK(close(site.open().usage().of_associations()[0],
                300 * std::pow(d, 300) * 96 + 150 * std::pow(d, 150) * 96));
    site.open().recompute(86400.0);
    CHECK(site.open().usage().of_associations()[0] == 0 && site.priority(second) == 1000);
    // Nothing is computed while there is nothing to compute it for.
    site.open().end(second, 86401);
    site.open().end(third, 86401);
    CHECK(!site.open().next_recomputation());
    site.submit({.association = 1}, 100000);
    CHECK(site.open().next_recomputation() == 100200.0);
}

void priorities_may_only_grow() {
    Site site;
    site.accounting.has_database = true;
    site.accounting.associations = {account(none), user(0), user(0)};
    site.parameters.weight_fair_share = 1000;
    site.parameters.incr_only = true;
    const JobIndex first = site.submit({.association = 1}, 0);
    const JobIndex second = site.submit({.association = 1}, 0);
    site.start(first, 0, 1);
    site.open().recompute(300.0);
    CHECK(site.priority(second) == 1000);
}

void limits_hold_back_ages() {
    Site site;
    site.accounting.has_database = true;
    site.accounting.associations = {account(none), user(0)};
    site.accounting.associations[1].limits.max_jobs_accrue = 1;
    site.parameters.weight_age = 1000;
    site.parameters.max_age = 1000;
    const JobIndex first = site.submit({.association = 1}, 0);
    const JobIndex second = site.submit({.association = 1}, 0);
    site.open().recompute(300.0);
    site.open().recompute(600.0);
    CHECK(site.priority(first) == 300 && site.priority(second) == 1);
    site.start(first, 600, 1);
    site.open().recompute(900.0);
    site.open().recompute(1200.0);
    CHECK(site.priority(second) == 300);
}

void usage_is_reset_on_dates() {
    const Seconds evening = 1794700000; // Saturday 2026-11-14 23:46:40
    CHECK(next_usage_reset(UsageReset::daily, evening) == 1794700800);
    CHECK(next_usage_reset(UsageReset::weekly, evening) == 1794700800);
    CHECK(next_usage_reset(UsageReset::weekly, 1794700800) == 1794700800 + 7 * 86400);
    CHECK(next_usage_reset(UsageReset::monthly, evening) == 1796083200);   // 2026-12-01
    CHECK(next_usage_reset(UsageReset::quarterly, evening) == 1798761600); // 2027-01-01
    CHECK(next_usage_reset(UsageReset::yearly, evening) == 1798761600);
    CHECK(next_usage_reset(UsageReset::never, evening) == no_date);
}

} // namespace

void test_slurm_priority() {
    fair_tree_ranks_users();
    fair_tree_shares_ranks_among_equals();
    fair_tree_sorts_by_paths();
    classic_fair_share_is_a_power_of_two();
    usage_grows_old();
    sizes_count_as_they_were_tested();
    ages_and_other_factors_add_up();
    usage_lowers_priorities_until_it_is_forgotten();
    priorities_may_only_grow();
    limits_hold_back_ages();
    usage_is_reset_on_dates();
}

} // namespace noctule
