// What backfilling does for components of heterogeneous jobs, and for licences.
#include "slurm/backfill.hpp"

#include <algorithm>

namespace noctule::slurm {

bool Backfill::may_start_more() const {
    const std::uint32_t most = controller_.parameters().bf_max_job_start;
    return most == 0 || n_started_ < most;
}

// Starts all heterogeneous jobs whose components could start now.
void Backfill::start_groups(const Moment& moment) {
    if (het_jobs_.empty() || controller_.parameters().bf_hetjob_immediate) {
        return;
    }
    for (const std::uint32_t group : het_jobs_.noted_groups()) {
        if (may_start_more()) {
            start_group(moment, group);
        }
    }
}

bool Backfill::start_group(const Moment& moment, std::uint32_t group) {
    const std::optional<Seconds> start = het_jobs_.start(group);
    if (!start || *start > now_) {
        return false;
    }
    struct Part {
        QueueRecord record;
        Choice choice;
        Minutes limit;
    };
    std::vector<Part> parts;
    NodeSet used(controller_.settings().n_nodes());
    for (const JobIndex job : het_jobs_.members(group)) {
        const QueueRecord record = controller_.record_in(job, het_jobs_.partition(job));
        const Minutes limit = controller_.time_limit(job, record.partition);
        std::optional<Choice> choice = choose_apart(moment, record, limit, used);
        if (!choice) {
            return false;
        }
        used |= choice->nodes;
        parts.push_back({record, std::move(*choice), limit});
    }
    for (const Part& part : parts) {
        controller_.start(moment, part.record, part.choice, part.limit, StartedBy::backfill);
        ++n_started_;
    }
    het_jobs_.forget(group);
    return true;
}

// Nodes for a component now, other than those of the components before it.
std::optional<Choice> Backfill::choose_apart(const Moment& moment, const QueueRecord& record,
                                             Minutes limit, const NodeSet& used) {
    const JobIndex job = record.job;
    const Request& request = controller_.request(job);
    if (!controller_.is_queued(moment, record) || !controller_.has_licenses(request) ||
        !controller_.limits().allows(job, record.partition, moment.now)) {
        return std::nullopt;
    }
    NodeSet nodes = controller_.nodes().up & controller_.partition(record.partition).nodes;
    nodes -= used;
    controller_.keep_usable(job, now_, limit * 60, nodes);
    if (request.constraint != none) {
        nodes &= controller_.settings().constraints[request.constraint];
    }
    if (request.excluded.n_nodes() > 0) {
        nodes -= request.excluded;
    }
    const auto [least, wanted] = controller_.node_bounds(job, record.partition);
    std::optional<Choice> choice = controller_.run_now(
        {job, request, controller_.partition(record.partition), nodes, least, wanted});
    if (choice && !controller_.limits().allows(job, record.partition, *choice, moment.now)) {
        controller_.note_limit(job);
        return std::nullopt;
    }
    return choice;
}

// Until when licences are lacking for a job that starts at a date; 0 if there are enough.
Seconds Backfill::lacks_licenses_until(const Attempt& attempt, Seconds start, Seconds end) {
    if (!controller_.parameters().bf_licenses) {
        return 0;
    }
    const std::optional<LicensePlan::Lack> lack = licenses_.lack(attempt.request, start, end);
    if (lack && start <= now_) {
        controller_.reasons().note(attempt.job, Reason::licenses,
                                   controller_.settings().licenses[lack->license].name);
    }
    return lack ? lack->until : 0;
}

void Backfill::plan_licenses() {
    const Parameters& parameters = controller_.parameters();
    if (!parameters.bf_licenses) {
        return;
    }
    licenses_.reset(round_down(now_), round_down(now_ + parameters.bf_window * 60),
                    controller_.settings().licenses);
    controller_.for_each_running([&](JobIndex job) {
        licenses_.take(controller_.request(job), round_down(now_),
                       round_down(controller_.expected_end(job)));
    });
}

} // namespace noctule::slurm
