// Limits of QOS and associations, each by hand; what they count, against a count of all jobs.
#include "slurm/account_limits.hpp"
#include "tests/checks.hpp"

#include <map>

namespace noctule {

namespace {

using namespace slurm;

// Ten nodes of eight CPUs; account "lab" with users ann and bob; QOS "normal" and "high".
struct Site {
    Settings settings;
    Requests requests;
    Accounting& accounting = settings.accounting;
    PriorityParameters& parameters = settings.priority;
    std::unique_ptr<Multifactor> multifactor;
    std::unique_ptr<AccountLimits> opened;

    Site() {
        settings.nodes.assign(10, {.cpus = 8, .memory_mb = 1000});
        settings.gres_kinds = {"gpu"};
        settings.partitions = {{.name = "main", .nodes = NodeSet(10, true)},
                               {.name = "debug", .nodes = NodeSet(10, true)}};
        accounting.has_database = accounting.enforces_limits = true;
        accounting.associations = {{.name = "root"},
                                   {.name = "lab", .parent = 0},
                                   {.name = "ann", .parent = 1, .is_user = true},
                                   {.name = "bob", .parent = 1, .is_user = true}};
        accounting.qos = {{.name = "normal"}, {.name = "high"}};
    }
    Qos& normal() { return accounting.qos[0]; }
    LimitSet& lab() { return accounting.associations[1].limits; }
    LimitSet& ann() { return accounting.associations[2].limits; }

    AccountLimits& open() {
        if (!opened) {
            multifactor = std::make_unique<Multifactor>(settings, requests);
            opened = std::make_unique<AccountLimits>(settings, requests, multifactor.get());
        }
        return *opened;
    }
    // Of ann and QOS normal unless said otherwise.
    JobIndex job(std::uint32_t n_nodes = 1, std::uint32_t association = 2, std::uint32_t qos = 0,
                 Minutes limit = 10) {
        requests.push_back({.partitions = {0},
                            .min_nodes = n_nodes,
                            .limit = limit,
                            .user = association,
                            .association = association,
                            .qos = qos});
        return static_cast<JobIndex>(requests.size() - 1);
    }
    Choice choice(JobIndex job) const {
        NodeSet nodes(10);
        nodes.add(NodeRun{0, requests[job].min_nodes});
        return {.nodes = nodes, .hosts = {}, .cpus = 8 * requests[job].min_nodes};
    }
    // What a job would be told if it were tried now; "" if it may start.
    std::string why(JobIndex job, Seconds now = 0, std::uint32_t partition = 0) {
        if (open().allows(job, partition, now) &&
            opened->allows(job, partition, choice(job), now)) {
            CHECK(opened->blocked_by(job) == nullptr);
            return "";
        }
        return opened->blocked_by(job)->name + " of " + opened->blocked_by(job)->whose;
    }
    bool submit(JobIndex job) {
        const bool may = open().may_submit(job, 0);
        if (may) {
            opened->submit(job, 0);
            multifactor->submit(job, 0);
        }
        return may;
    }
    JobIndex run(JobIndex job, Seconds now = 0) {
        submit(job);
        opened->start(job, 0, choice(job), now);
        multifactor->start(job, now, choice(job));
        return job;
    }
    void end(JobIndex job, Seconds now) {
        multifactor->end(job, now);
        opened->end(job, now);
    }
};

void numbers_of_jobs_are_bounded() {
    Site site;
    site.normal().limits.grp_jobs = 3;
    site.normal().per_user.max_jobs = 2;
    site.normal().per_account.max_submit_jobs = 4;
    const JobIndex first = site.run(site.job());
    CHECK(site.why(site.job()).empty());
    site.run(site.job());
    CHECK(site.why(site.job()) == "QOSMaxJobsPerUserLimit of normal");
    CHECK(site.why(site.job(1, 3)).empty());
    site.run(site.job(1, 3));
    CHECK(site.why(site.job(1, 3)) == "QOSGrpJobsLimit of normal");
    CHECK(site.submit(site.job(1, 3)));
    const JobIndex refused = site.job();
    CHECK(!site.submit(refused));
    CHECK(site.opened->blocked_by(refused)->name == "QOSMaxSubmitJobPerAccountLimit");
    CHECK(site.opened->blocked_by(refused)->allowed == 4);
    CHECK(site.opened->blocked_by(refused)->needed == 5);
    site.end(first, 10);
    CHECK(site.submit(refused) && site.why(refused).empty());

    Site other;
    other.lab().max_jobs = 1; // ann has none of her own: the account's
    other.lab().grp_jobs = 2;
    other.run(other.job());
    CHECK(other.why(other.job()) == "AssocMaxJobsLimit of ann");
    other.run(other.job(1, 3));
    other.ann().max_jobs = 9;
    CHECK(other.why(other.job()) == "AssocGrpJobsLimit of lab");
    other.normal().limits.grp_jobs = 5; // what a QOS bounds, accounts do not
    CHECK(other.why(other.job()).empty());
}

void resources_are_bounded() {
    Site site;
    site.normal().limits.grp_tres = {{tres_cpu, 40}};
    site.normal().per_user.max_tres = {{tres_node, 3}};
    site.normal().min_tres = {{tres_cpu, 16}};
    CHECK(site.why(site.job(1)) == "QOSMinCpuNotSatisfied of normal");
    CHECK(site.why(site.job(4)) == "QOSMaxNodePerUserLimit of normal");
    CHECK(site.why(site.job(6)) == "QOSGrpCpuLimit of normal");
    site.run(site.job(2));
    CHECK(site.why(site.job(2)) == "QOSMaxNodePerUserLimit of normal");
    CHECK(site.why(site.job(3, 3)).empty());
    site.run(site.job(3, 3));
    CHECK(site.why(site.job(2, 2)) == "QOSGrpCpuLimit of normal");
    CHECK(site.open().max_nodes(0, 0) == 3);

    Site accounts;
    accounts.lab().grp_tres = {{tres_node, 4}};
    accounts.ann().max_tres_per_job = {{tres_cpu, 16}};
    accounts.lab().max_tres_per_node = {{tres_cpu, 8}};
    CHECK(accounts.why(accounts.job(3)) == "AssocMaxCpuPerJobLimit of ann");
    CHECK(accounts.why(accounts.job(3, 3)).empty());
    accounts.run(accounts.job(3, 3));
    CHECK(accounts.why(accounts.job(2)) == "AssocGrpNodeLimit of lab");
    accounts.accounting.qos[1].limit_factor = 2.0;
    CHECK(accounts.why(accounts.job(2, 2, 1)).empty());
    CHECK(accounts.open().max_nodes(0, 0) == 4);
    accounts.accounting.enforces_limits = false;
    CHECK(accounts.why(accounts.job(2)).empty());
}

void minutes_are_bounded() {
    Site site;
    site.normal().limits.max_wall = 60;
    site.lab().max_wall = 5; // the QOS has one already
    CHECK(site.why(site.job(1, 2, 0, 60)).empty());
    CHECK(site.why(site.job(1, 2, 0, 61)) == "QOSMaxWallDurationPerJobLimit of normal");
    CHECK(site.why(site.job(1, 2, 1, 6)) == "AssocMaxWallDurationPerJobLimit of ann");

    Site running;
    running.normal().limits.grp_tres_run_mins = {{tres_cpu, 240}};
    running.normal().limits.max_tres_mins_per_job = {{tres_cpu, 200}};
    running.run(running.job(1, 2, 0, 20)); // 160 CPU minutes
    CHECK(running.why(running.job()).empty());
    CHECK(running.why(running.job(1, 2, 0, 11)) == "QOSGrpCPURunMinutesLimit of normal");
    CHECK(running.why(running.job(1, 2, 0, 11), 60).empty()); // a minute later 152 are left
    CHECK(running.why(running.job(1, 2, 0, 26), 1200) == "QOSMaxCpuMinutesPerJobLimit of normal");
}

void what_was_used_counts_until_it_decays() {
    Site site;
    site.parameters.decay_half_life = 0;
    site.lab().grp_tres_mins = {{tres_cpu, 100}};
    site.lab().grp_wall = 1000;
    site.run(site.job());
    CHECK(site.why(site.job(1, 2, 0, 500)).empty());
    site.end(0, 750); // 8 CPUs for 12.5 minutes
    CHECK(site.why(site.job()) == "AssocGrpCPUMinutesLimit of lab");
    CHECK(site.opened->blocked_by(1) == nullptr);

    Site safe;
    safe.parameters.decay_half_life = 0;
    safe.accounting.enforces_safely = true;
    safe.normal().limits.grp_tres_mins = {{tres_cpu, 100}};
    CHECK(safe.why(safe.job(1, 2, 0, 12)).empty());
    CHECK(safe.why(safe.job(1, 2, 0, 13)) == "QOSGrpCPUMinutesLimit of normal");
    safe.run(safe.job(1, 2, 0, 5)); // 40 are spoken for
    CHECK(safe.why(safe.job(1, 2, 0, 7)).empty());
    CHECK(safe.why(safe.job(1, 2, 0, 8)) == "QOSGrpCPUMinutesLimit of normal");

    Site threshold;
    threshold.parameters.weight_fair_share = 1;
    threshold.normal().usage_threshold = 0.6;
    threshold.normal().enforce_usage_threshold = true;
    threshold.run(threshold.job());
    CHECK(threshold.why(threshold.job()).empty());
    threshold.multifactor->recompute(600);
    CHECK(threshold.why(threshold.job()) == "QOSUsageThreshold of normal");
    CHECK(threshold.why(threshold.job(1, 3)).empty());
}

void partitions_have_a_qos_too() {
    Site site;
    site.settings.partitions[1].qos = 1;
    site.accounting.qos[1].limits.grp_jobs = 1;
    site.normal().limits.grp_jobs = 5;
    const JobIndex first = site.job();
    site.submit(first);
    site.open().start(first, 1, site.choice(first), 0);
    CHECK(site.why(site.job(), 0, 1) == "QOSGrpJobsLimit of high");
    CHECK(site.why(site.job(), 0, 0).empty());
    site.normal().over_part_qos = true; // its own limit comes first, and is the one that binds
    CHECK(site.why(site.job(), 0, 1).empty());
    site.open().end(first, 10);
    site.normal().over_part_qos = false;
    CHECK(site.why(site.job(), 0, 1).empty());
}

void flags_refuse_and_leave_unplanned() {
    Site site;
    site.normal().limits.max_tres_per_job = {{tres_node, 2}};
    const JobIndex large = site.job(3);
    CHECK(site.open().may_submit(large, 0));
    site.normal().deny_on_limit = true;
    CHECK(!site.open().may_submit(large, 0));
    CHECK(site.open().blocked_by(large)->name == "QOSMaxNodePerJobLimit");

    CHECK(!site.open().plans_nothing(large, 10));
    site.normal().limits.min_prio_threshold = 11;
    CHECK(site.open().plans_nothing(large, 10) && !site.open().plans_nothing(large, 11));
    site.accounting.qos[1].no_reserve = true;
    CHECK(site.open().plans_nothing(site.job(1, 2, 1), 10));
}

void shared_nodes_count_what_is_held_of_them() {
    Site site;
    site.normal().limits.max_tres_per_node = {{first_gres_tres, 2}, {tres_cpu, 3}};
    site.normal().limits.grp_tres = {{tres_memory, 500}};
    const JobIndex job = site.job(2);
    Choice choice = site.choice(job);
    choice.cpus = 4;
    choice.shares.nodes = {{0, 3, 200}, {1, 1, 200}};
    choice.shares.gres = {1, 2};
    CHECK(site.open().allows(job, 0, choice, 0));
    choice.shares.gres = {3, 1};
    CHECK(!site.open().allows(job, 0, choice, 0));
    CHECK(site.open().blocked_by(job)->name == "QOSMaxGRESPerNode");
    choice.shares.gres = {1, 1};
    choice.shares.nodes[1].memory_mb = 301;
    CHECK(!site.open().allows(job, 0, choice, 0));
    CHECK(site.open().blocked_by(job)->name == "QOSGrpMemLimit");
}

// Every count is what one gets by counting all jobs.
void counts_are_those_of_all_jobs() {
    Random random(61);
    Accounting accounting;
    accounting.associations = {{.name = "root"}};
    for (std::uint32_t i = 1; i < 12; ++i) {
        accounting.associations.push_back({.parent = draw(random, 0, i - 1)});
    }
    accounting.qos.resize(3);
    LimitCounts counts(accounting, 1);
    struct Job {
        LimitCounts::Owner owner;
        double cpus;
        bool is_running;
    };
    std::vector<Job> jobs;
    for (int step = 0; step < 2000; ++step) {
        if (draw(random, 0, 2) > 0 || jobs.empty()) {
            Job job{{draw(random, 1, 11), draw(random, 0, 3), {draw(random, 0, 2)}},
                    static_cast<double>(draw(random, 1, 9)),
                    draw(random, 0, 1) == 1};
            counts.submit(job.owner);
            if (job.is_running) {
                counts.start(job.owner, {job.cpus});
            }
            jobs.push_back(job);
        } else {
            const auto at = jobs.begin() + draw(random, 0, 9999) % static_cast<int>(jobs.size());
            if (at->is_running) {
                counts.end(at->owner, {at->cpus});
            }
            counts.withdraw(at->owner);
            jobs.erase(at);
        }
        const std::uint32_t association = draw(random, 0, 11);
        const std::uint32_t qos = draw(random, 0, 2);
        const std::uint32_t user = draw(random, 0, 3);
        Count of_association{.tres = {0}};
        Count of_user{.tres = {0}};
        for (const Job& job : jobs) {
            const auto add = [&](Count& count) {
                ++count.submitted;
                count.running += job.is_running ? 1 : 0;
                count.tres[0] += job.is_running ? job.cpus : 0;
            };
            for (std::uint32_t i = job.owner.association; i != none;
                 i = accounting.associations[i].parent) {
                if (i == association) {
                    add(of_association);
                }
            }
            if (job.owner.qos.front() == qos && job.owner.user == user) {
                add(of_user);
            }
        }
        const Count& found = counts.of_association(association);
        CHECK(found.submitted == of_association.submitted &&
              found.running == of_association.running && found.tres == of_association.tres);
        const Count& users = counts.of_user(qos, user);
        CHECK(users.submitted == of_user.submitted && users.running == of_user.running &&
              users.tres == of_user.tres);
    }
}

} // namespace

void test_slurm_limits() {
    numbers_of_jobs_are_bounded();
    resources_are_bounded();
    minutes_are_bounded();
    what_was_used_counts_until_it_decays();
    partitions_have_a_qos_too();
    flags_refuse_and_leave_unplanned();
    shared_nodes_count_what_is_held_of_them();
    counts_are_those_of_all_jobs();
}

} // namespace noctule
