// Jobs that ran already when the record of a site begins: they start when and where they did.
#include "slurm/controller.hpp"

namespace noctule::slurm {

void Controller::start_given(const Moment& moment) {
    while (!given_starts_.empty() && given_starts_.begin()->first <= moment.now) {
        const JobIndex job = given_starts_.begin()->second;
        given_starts_.erase(given_starts_.begin());
        if (status_[job].phase != JobStatus::Phase::pending) {
            continue;
        }
        const Request& request = requests_[job];
        const std::uint32_t index = request.partitions.front();
        const std::uint32_t n = request.started_on.count();
        const NodeSet nodes = nodes_.up & request.started_on;
        const std::optional<Choice> choice =
            nodes.count() < n || n == 0 ? std::nullopt
                                        : run_now({job, request, partition(index), nodes, n, n});
        if (!choice) {
            ++n_not_given_; // it waits like others
            continue;
        }
        start(moment, record_in(job, index), *choice, time_limit(job, index), StartedBy::nobody);
    }
}

QueueRecord Controller::record_in(JobIndex job, std::uint32_t index) const {
    return {.job = job,
            .partition = index,
            .position = 0,
            .tier = partition(index).priority_tier,
            .priority = priority_->of(job, 0),
            .reserved = requests_[job].reservation != none,
            .live = true};
}

} // namespace noctule::slurm
