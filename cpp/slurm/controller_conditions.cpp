// What keeps a pending job from being tried, or from some nodes: dates, dependencies, licences,
// reservations and maintenances.
#include "slurm/controller.hpp"

#include <algorithm>
#include <cmath>

namespace noctule::slurm {

bool Controller::is_queued(const Moment& moment, const QueueRecord& record) {
    const JobIndex job = record.job;
    const JobStatus& status = status_[job];
    if (status.phase != JobStatus::Phase::pending || status.eligible > moment.now) {
        return false;
    }
    const Request& request = requests_[job];
    const Partition& where = partition(record.partition);
    if (where.state == PartitionState::down || where.state == PartitionState::inactive ||
        violates_limits(request, record.partition)) {
        return false;
    }
    return !is_throttled(request) && (status.independent || is_independent(moment, job));
}

bool Controller::is_throttled(const Request& request) const {
    if (request.array_throttle == 0) {
        return false;
    }
    const auto running = running_tasks_.find(request.array);
    return running != running_tasks_.end() && running->second >= request.array_throttle;
}

Controller::Verdict Controller::judge(const Dependency& dependency, JobIndex job,
                                      const Moment& moment) const {
    using Kind = Dependency::Kind;
    if (dependency.kind == Kind::singleton) {
        const Request& request = requests_[job];
        const auto alike = singletons_.find(std::uint64_t{request.user} << 32 | request.name);
        const bool open =
            alike != singletons_.end() && std::ranges::any_of(alike->second, [&](JobIndex other) {
                return other < job && status_[other].phase < JobStatus::Phase::ended;
            });
        return open ? Verdict::open : Verdict::met;
    }
    const JobIndex last = last_attempt(dependency.job);
    const JobStatus& other = status_[last];
    const bool ended = other.phase == JobStatus::Phase::ended;
    if (dependency.kind == Kind::after) {
        const bool began = other.phase == JobStatus::Phase::running || ended;
        return began && moment.now >= other.start + dependency.minutes * 60 ? Verdict::met
                                                                            : Verdict::open;
    }
    if (!ended) {
        return Verdict::open;
    }
    const bool succeeded = moment.view.state(last) == JobState::completed && !requests_[last].fails;
    switch (dependency.kind) {
    case Kind::after_ok:
    case Kind::after_corr:
        return succeeded ? Verdict::met : Verdict::never;
    case Kind::after_not_ok:
        return succeeded ? Verdict::never : Verdict::met;
    default:
        return Verdict::met;
    }
}

bool Controller::is_independent(const Moment& moment, JobIndex job) {
    const Request& request = requests_[job];
    bool open = false;
    bool never = false;
    bool met = false;
    for (const Dependency& dependency : request.dependencies) {
        const Verdict verdict = judge(dependency, job, moment);
        open |= verdict == Verdict::open;
        never |= verdict == Verdict::never;
        met |= verdict == Verdict::met;
    }
    if (request.any_dependency ? !met && !open : never) {
        queue_.remove(job);
        refuse(moment, job, Refusal::dependency);
        return false;
    }
    if (request.any_dependency ? !met : open) {
        return false;
    }
    JobStatus& status = status_[job];
    status.independent = true;
    status.eligible = moment.now;
    priority_->become_eligible(job, moment.now);
    return true;
}

bool Controller::all_eligible(Seconds now) const {
    return std::ranges::none_of(queue_.records(), [&](const QueueRecord& record) {
        return record.live && status_[record.job].eligible > now;
    });
}

bool Controller::cancel_late(const Moment& moment, JobIndex job) {
    const Request& request = requests_[job];
    const Minutes least = request.time_min > 0 ? request.time_min : request.limit;
    if (request.deadline == no_date || moment.now + least * 60 <= request.deadline) {
        return false;
    }
    queue_.remove(job);
    status_[job].phase = JobStatus::Phase::ended;
    ++n_late_;
    moment.decisions.reject(job);
    touch(moment.now);
    return true;
}

bool Controller::has_licenses(const Request& request) const {
    return std::ranges::all_of(request.licenses, [&](const LicenseRequest& asked) {
        return licenses_used_[asked.license] + asked.count <=
               settings_->licenses[asked.license].total;
    });
}

void Controller::count_licenses(const Request& request, int change) {
    for (const LicenseRequest& asked : request.licenses) {
        std::uint32_t& used = licenses_used_[asked.license];
        used = change > 0 ? used + asked.count : used - asked.count;
    }
}

void Controller::set_windows(const View& view) {
    windows_.clear();
    known_windows_.clear();
    const std::vector<TimeWindow>& all = view.windows();
    for (WindowIndex index = 0; index < all.size(); ++index) {
        const TimeWindow& window = all[index];
        if (window.is_known()) {
            const auto second = [&](double date) {
                return date == infinity ? no_date
                                        : settings_->epoch + static_cast<Seconds>(std::floor(date));
            };
            windows_.push_back({second(window.from), second(window.to), nodes_of(window.hosts),
                                window.kind == TimeWindow::Kind::reservation});
            known_windows_.push_back(index);
        }
    }
}

Seconds Controller::keep_usable(JobIndex job, Seconds start, Seconds duration,
                                NodeSet& nodes) const {
    const std::uint32_t own = requests_[job].reservation;
    Seconds later = 0;
    for (std::size_t i = 0; i < windows_.size(); ++i) {
        const Window& window = windows_[i];
        if (window.is_reservation && known_windows_[i] == own) {
            nodes &= window.nodes;
            if (start < window.from || start + duration > window.to) {
                nodes.clear();
            }
            continue;
        }
        if (window.to <= start || window.from >= start + duration) {
            continue;
        }
        if (nodes.intersects(window.nodes) && window.to != no_date &&
            (later == 0 || window.to < later)) {
            later = window.to;
        }
        nodes -= window.nodes;
    }
    return later;
}

bool Controller::waits_for_completion(Seconds now) const {
    return std::ranges::any_of(
        completing_, [&](const auto& ended) { return completes_lately(ended.second, now); });
}

NodeSet Controller::nodes_in_completion(Seconds now) const {
    NodeSet nodes(settings_->n_nodes());
    for (const auto& [job, ended] : completing_) {
        if (completes_lately(ended, now)) {
            nodes |= partition(status_[job].partition).nodes;
        }
    }
    return nodes;
}

std::optional<Seconds> Controller::reservation_begin(JobIndex job) const {
    for (std::size_t i = 0; i < windows_.size(); ++i) {
        if (windows_[i].is_reservation && known_windows_[i] == requests_[job].reservation) {
            return windows_[i].from;
        }
    }
    return std::nullopt;
}

// The limits by which jobs were refused, each with how many it refused.
std::string Controller::named_limits() const {
    std::string text;
    for (const auto& [name, n] : n_refused_by_) {
        text += (text.empty() ? "" : ", ") + name + " (" + std::to_string(n) + ")";
    }
    return text;
}

std::vector<std::string> Controller::warnings() const {
    static constexpr const char* why[n_refusals] = {
        "ask for what their partitions can never give, and were refused",
        "exceed the limits of all their partitions, would wait for ever, and were refused",
        "are held and never released, and were refused",
        "depend on jobs that did not end as they should, and were refused",
        "exceed limits of accounting, and were refused: ",
        "waited for days on an empty machine without starting, and were refused",
    };
    std::vector<std::string> told;
    const auto tell = [&](std::uint64_t n, const std::string& what) {
        if (n > 0) {
            told.push_back("slurm: " + std::to_string(n) + (n == 1 ? " job: " : " jobs: ") + what);
        }
    };
    for (std::size_t i = 0; i < n_refusals; ++i) {
        const bool is_named = i == static_cast<std::size_t>(Refusal::accounting);
        tell(n_refused_[i], why[i] + (is_named ? named_limits() : ""));
    }
    tell(n_beyond_resume_rate_, "boot more nodes than ResumeRate allows in a minute: all at once");
    tell(n_not_given_, "ran already when the record begins, but their nodes were not free here");
    tell(n_late_, "could not end before their deadlines, and were cancelled");
    return told;
}

bool Controller::waits_for_switch(JobIndex job, const NodeSet& nodes, Seconds now) {
    const Request& request = requests_[job];
    if (!request.one_switch) {
        return false;
    }
    Seconds& since = status_[job].found_nodes;
    since = since == 0 ? now : since;
    const auto n_leaves = std::ranges::count_if(settings_->switches, [&](const auto& leaf) {
        return leaf.level == 0 && leaf.nodes.intersects(nodes);
    });
    return n_leaves > 1 && now - since < request.switch_wait;
}

} // namespace noctule::slurm
