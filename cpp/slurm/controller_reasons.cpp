// What the log of reasons is told of jobs that a pass does not try.
#include "slurm/controller.hpp"

namespace noctule::slurm {

void Controller::note_unqueued(const Moment& moment, const QueueRecord& record) {
    const JobStatus& status = status_[record.job];
    if (!reasons_.is_kept() || !record.live || status.phase != JobStatus::Phase::pending) {
        return;
    }
    const Request& request = requests_[record.job];
    const Partition& where = partition(record.partition);
    if (status.eligible > moment.now) {
        const bool is_held = request.held && request.release > moment.now;
        reasons_.note(record.job, is_held ? Reason::held : Reason::begin_time);
    } else if (where.state == PartitionState::down || where.state == PartitionState::inactive ||
               violates_limits(request, record.partition)) {
        reasons_.note(record.job, Reason::partition, where.name);
    } else if (is_throttled(request)) {
        reasons_.note(record.job, Reason::array_throttle);
    } else if (!status.independent) {
        reasons_.note(record.job, Reason::dependency);
    }
}

void Controller::note_rest(const Moment& moment, std::size_t first_record, Reason reason,
                           std::string_view detail) {
    if (!reasons_.is_kept()) {
        return;
    }
    for (std::size_t i = first_record; i < queue_.records().size(); ++i) {
        const QueueRecord& record = queue_.records()[i];
        if (record.live) {
            reasons_.note(record.job, reason, detail);
            note_unqueued(moment, record);
        }
    }
}

void Controller::note_limit(JobIndex job) {
    if (const BlockingLimit* limit = reasons_.is_kept() ? limits_->blocked_by(job) : nullptr) {
        reasons_.note(job, Reason::limit, limit->name + " of " + limit->whose);
    }
}

void Controller::note_licenses(JobIndex job) {
    if (!reasons_.is_kept()) {
        return;
    }
    for (const LicenseRequest& asked : requests_[job].licenses) {
        const License& license = settings_->licenses[asked.license];
        if (licenses_used_[asked.license] + asked.count > license.total) {
            reasons_.note(job, Reason::licenses, license.name);
            return;
        }
    }
}

} // namespace noctule::slurm
