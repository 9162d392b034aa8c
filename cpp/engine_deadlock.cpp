// Runs in which nothing happens any more: who waits for what.
#include "engine.hpp"

#include "errors.hpp"

#include <algorithm>

namespace noctule {

namespace {

constexpr std::size_t jobs_named_in_errors = 5;

} // namespace

void Engine::refuse_livelock() const {
    const bool only_timers = queue_.size() == n_queued_calls_ &&
                             next_arrival_ == end_of_arrivals_ &&
                             !(arrivals_ && arrivals_->next_date() < infinity) &&
                             !(parts_.machine && parts_.machine->next_time() < infinity);
    if (calls_at_now_ > max_quiet_calls) {
        throw DeadlockError("t=" + format_time(now_) +
                            ": the policy was called a million times at this instant, expected it "
                            "to let time go on");
    }
    if (quiet_calls_ > max_quiet_calls && only_timers) {
        report_deadlock("the policy keeps calling itself and decides nothing");
    }
}

void Engine::report_deadlock(const char* what) const {
    std::vector<JobIndex> stuck;
    const auto collect_stuck = [&](JobState state) {
        for (JobIndex job = 0; job < status_.size(); ++job) {
            if (status_[job].state == state) {
                stuck.push_back(job);
            }
        }
        return !stuck.empty();
    };
    std::string text = "t=" + format_time(now_) + ": " + what;
    if (const std::string stuck = execution_ ? execution_->stuck() : ""; !stuck.empty()) {
        throw DeadlockError(text + "; " + stuck);
    }
    const char* why = collect_stuck(JobState::waiting)   ? " for the policy to start or reject them"
                      : collect_stuck(JobState::running) ? " for ever"
                      : collect_stuck(JobState::pending) ? " for others to end"
                                                         : nullptr;
    if (why == nullptr) {
        throw DeadlockError(
            text + ", although every job has ended" +
            (is_registration_open_ ? "; the policy has not finished its registration" : ""));
    }
    const bool one = stuck.size() == 1;
    const bool runs = status_[stuck.front()].state == JobState::running;
    text += ", but " + std::to_string(stuck.size()) + (one ? " job " : " jobs ");
    text += std::string(runs ? "run" : "wait") + (one ? "s" : "") + why + ": ";
    for (std::size_t i = 0; i < std::min(stuck.size(), jobs_named_in_errors); ++i) {
        const std::uint32_t n = table_->jobs[stuck[i]].n_hosts;
        text += (i > 0 ? ", " : "") + std::string("job ") + describe_job(stuck[i]) + " (" +
                std::to_string(n) + (n == 1 ? " host)" : " hosts)");
    }
    text += stuck.size() > jobs_named_in_errors ? ", ..." : "";
    throw DeadlockError(text + "; " + std::to_string(n_free()) + " of " +
                        std::to_string(n_hosts()) + " hosts are free");
}

} // namespace noctule
