// Jobs that a failure or a maintenance has ended: what they lose, and their next attempts. Users
// may also submit jobs again that a policy has killed: all of their work is lost.
//
// A run is cut into stretches of work of `checkpoint_every` seconds, with a checkpoint behind each
// but the last; an attempt that is not the first begins with its restart. What was worked since the
// last checkpoint that is complete is lost. That holds for delays and computations; programs are
// not lengthened, and begin again.
#include "engine.hpp"

#include <algorithm>
#include <cmath>

namespace noctule {

namespace {

// A checkpoint that ends at the instant of a failure is complete, whatever rounding says.
constexpr double hair = 1e-9;

} // namespace

Engine::Attempt Engine::attempt(JobIndex job) const {
    const auto found = attempts_.find(job);
    return found == attempts_.end() ? Attempt{job, 1} : found->second;
}

bool Engine::is_tried_again(JobIndex job) const {
    const AttemptOptions& rules = options_.attempts;
    const auto [origin, number] = attempt(job);
    if (job == interrupted_ && rules.resubmit) {
        return number < rules.max_attempts && !rules.only_once.contains(job);
    }
    if (!requeued_.empty() && requeued_.contains(job)) {
        return true;
    }
    return status_[job].outcome == JobState::killed && number <= rules.resubmit_killed &&
           origin < end_of_arrivals_;
}

void Engine::interrupt(JobIndex job, JobState outcome, const std::string& why) {
    last_progress_[job] = progress(job);
    status_[job].outcome = outcome;
    std::string& note = record_->metadata[job];
    note += (note.empty() ? "" : "; ") + why;
    interrupted_ = job;
    const bool again = is_tried_again(job);
    const double saved = again ? work_saved(job) : 0.0;
    const double pace = speed_of(job) / options_.reference_speed;
    finish(job);
    interrupted_ = no_job;
    if (again) {
        submit_again(job, saved * (table_->jobs[job].kind == ProfileKind::delay ? 1.0 : pace));
    }
}

// The job of the next attempt is a new one, with what is left of the work. One that was requeued
// comes when the hosts of the last attempt are released.
void Engine::submit_again(JobIndex job, double amount_done) {
    const Attempt before = attempt(job);
    JobTable& table = own_table();
    const auto next = static_cast<JobIndex>(table.jobs.size());
    Job what = table.jobs[job];
    what.submit_time = now_ + (requeued_.contains(job) ? epilogue_of(job) : 0.0);
    what.amount = std::max(0.0, what.amount - amount_done);
    table.names.push_back(table.id(before.origin) + "#" + std::to_string(before.number + 1));
    const auto inherit = [&](auto& column, auto usual) {
        if (!column.empty()) {
            column.resize(next, usual);
            column.push_back(column[job]);
        }
    };
    inherit(table.launch_delays, 0.0);
    inherit(table.epilogue_delays, 0.0);
    inherit(table.program_indices, no_program);
    inherit(reservations_, no_window);
    if (const auto ranks = table.rank_hosts.find(job); ranks != table.rank_hosts.end()) {
        table.rank_hosts[next] = ranks->second;
    }
    table.jobs.push_back(what);
    status_.emplace_back();
    ++n_unfinished_;
    attempts_[next] = {before.origin, before.number + 1};
    queue_.add(what.submit_time, EventRank::submission, next);
}

// How long so many seconds of work take, with what is done about failures.
double Engine::lengthened(JobIndex job, double work) const {
    const AttemptOptions& rules = options_.attempts;
    const double restart = attempt(job).number > 1 ? rules.restart_cost : 0.0;
    const double n_checkpoints = std::max(0.0, std::ceil(work / rules.checkpoint_every) - 1.0);
    return work + n_checkpoints * rules.checkpoint_cost + restart;
}

// The same in the unit of the job's amount.
double Engine::amount_to_run(JobIndex job) const {
    const Job& what = table_->jobs[job];
    if (!options_.attempts.lengthen_runs()) {
        return what.amount;
    }
    return what.kind == ProfileKind::delay
               ? duration(job)
               : duration(job) * speed_of(job) / options_.reference_speed;
}

// Seconds of its run, without the launch; where hosts are shared or change, as far as it has come.
double Engine::run_so_far(JobIndex job) const {
    const bool is_paced = changed_.contains(job) || (execution_ && execution_->is_running(job));
    if (is_paced && table_->jobs[job].kind == ProfileKind::compute) {
        return progress(job).front().done * duration(job);
    }
    return std::max(0.0, now_ - launch_date(job) - suspended_so_far(job));
}

double Engine::work_saved(JobIndex job) const {
    const AttemptOptions& rules = options_.attempts;
    if (table_->jobs[job].kind == ProfileKind::program || rules.checkpoint_every == infinity) {
        return 0.0;
    }
    const double restart = attempt(job).number > 1 ? rules.restart_cost : 0.0;
    const double stretch = rules.checkpoint_every + rules.checkpoint_cost;
    const double n_complete = std::floor((run_so_far(job) - restart) / stretch + hair);
    return std::max(0.0, n_complete) * rules.checkpoint_every;
}

// Seconds of a run that is ending which are neither lost nor spent on anything but its work.
double Engine::useful_time(JobIndex job) const {
    if (job == interrupted_) {
        return is_tried_again(job) ? work_saved(job) : 0.0;
    }
    if (is_tried_again(job)) {
        return 0.0;
    }
    const AttemptOptions& rules = options_.attempts;
    double run = std::max(0.0, now_ - launch_date(job) - suspended_so_far(job));
    if (!rules.lengthen_runs() || table_->jobs[job].kind == ProfileKind::program) {
        return run;
    }
    run = std::max(0.0, run - (attempt(job).number > 1 ? rules.restart_cost : 0.0));
    if (rules.checkpoint_every == infinity) {
        return run;
    }
    const double stretch = rules.checkpoint_every + rules.checkpoint_cost;
    const double n_complete = std::floor(run / stretch);
    return n_complete * rules.checkpoint_every +
           std::min(run - n_complete * stretch, rules.checkpoint_every);
}

} // namespace noctule
