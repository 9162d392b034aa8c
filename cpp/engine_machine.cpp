// Jobs on a machine: programs instead of timers, power states, and energy.
#include "engine.hpp"

#include "errors.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace noctule {

namespace {

// A message longer than this is refused: matching it against a pattern takes stack for each letter.
constexpr std::size_t longest_message = 4096;

using Counts = std::vector<std::uint16_t>; // of jobs, by host

void add_one(Counts& counts, Interval hosts) {
    for (HostId host = hosts.first; host <= hosts.last; ++host) {
        ++counts[host];
    }
}

// Whether there was one job on each of the hosts; there is none then.
bool drop_single(Counts& counts, Interval hosts) {
    const auto part = std::span(counts).subspan(hosts.first, hosts.size());
    const bool is_single = std::ranges::all_of(part, [](std::uint16_t n) { return n == 1; });
    if (is_single) {
        std::ranges::fill(part, 0);
    }
    return is_single;
}

} // namespace

void Engine::set_up_machine() {
    if (options_.share_hosts) {
        n_jobs_on_.resize(n_hosts(), 0);
    }
    if (parts_.book) {
        book_ = parts_.book.get();
        set_up_power(*book_, true);
    }
    if (!parts_.machine) {
        return;
    }
    storages_used_.resize(parts_.storages.size(), 0);
    execution_ = std::make_unique<Execution>(*parts_.machine, parts_.storages, parts_.execution);
    hosts_of_machine_ = std::make_unique<HostsOfMachine>(*parts_.machine, Execution::foreign);
    record_->has_bills = parts_.machine->counts_energy() && !parts_.machine->bills_exactly();
    set_up_power(*hosts_of_machine_, parts_.machine->counts_energy());
    toggle_hosts();
}

void Engine::set_up_power(PoweredHosts& hosts, bool counts_energy) {
    if (options_.wake_for_jobs) {
        free_.tell_phases_apart();
        waiter_.resize(n_hosts(), no_job);
    }
    power_ = std::make_unique<PowerControl>(hosts, free_);
    record_->has_energy = counts_energy;
    record_->has_power_states = true;
    for (HostId host = 0; host < n_hosts(); ++host) {
        if (!counts_as_free(phase(host))) {
            free_.take({host, host});
        }
    }
    if (record_->has_energy) {
        record_power_states();
    }
}

// One row for each power state that hosts begin in.
void Engine::record_power_states() {
    std::map<std::uint32_t, HostSet> hosts_by_state;
    for (HostId host = 0; host < n_hosts(); ++host) {
        hosts_by_state[power_->state(host)].append({host, host});
    }
    for (const auto& [state, hosts] : hosts_by_state) {
        record_->add_power_state(now_, hosts, static_cast<std::int32_t>(state));
    }
}

// Hosts of which all are free are taken together, others one by one.
void Engine::hold(Interval hosts) {
    const bool is_plain = !parts_.machine && !options_.share_hosts && windows_.empty();
    if (is_plain || (hosts.last < n_hosts() && free_.all().contains(hosts))) {
        free_.take(hosts);
        if (options_.share_hosts) {
            add_one(n_jobs_on_, hosts);
        }
        return;
    }
    for (HostId host = hosts.first; host <= hosts.last; ++host) {
        if (host >= n_hosts()) {
            storages_used_[host - n_hosts()] = 1;
            continue;
        }
        if (free_.contains(host)) {
            free_.take({host, host});
        }
        if (options_.share_hosts) {
            ++n_jobs_on_[host];
        }
    }
}

// And so they are given back, if no other job is on one of them.
void Engine::give_back(Interval hosts) {
    const bool can_be_free = hosts.last < n_hosts() &&
                             (unavailable_.empty() || present_.contains(hosts)) &&
                             (!power_ || power_->are_awake(hosts));
    if (can_be_free && (!options_.share_hosts || drop_single(n_jobs_on_, hosts))) {
        free_.give(hosts);
        return;
    }
    for (HostId host = hosts.first; host <= hosts.last; ++host) {
        if (host >= n_hosts()) {
            storages_used_[host - n_hosts()] = 0;
            continue;
        }
        const bool was_last = !options_.share_hosts || --n_jobs_on_[host] == 0;
        if (was_last && counts_as_free(phase(host)) && !is_unavailable(host)) {
            free_.give({host, host}, phase(host));
        }
    }
}

void Engine::begin_on_machine(JobIndex job, double launch_delay) {
    // How it ends unless its program does so before.
    status_[job].outcome = JobState::timed_out;
    if (options_.enforce_walltime && table_->jobs[job].walltime != infinity) {
        queue_.add(now_ + launch_delay + table_->jobs[job].walltime, EventRank::end, job);
    }
    if (record_->has_energy) {
        joules_at_start_[job] = joules_of(job);
        note_energy('s');
    }
    if (launch_delay > 0) {
        queue_.add(now_ + launch_delay, EventRank::launch, job);
    } else {
        launch(job);
    }
}

void Engine::use_programs(std::shared_ptr<const ProgramTable> programs) {
    own_table().programs = std::move(programs);
}

void Engine::launch(JobIndex job) {
    const Job& what = table_->jobs[job];
    std::vector<HostId> hosts;
    record_->archive.for_each(status_[job].hosts, [&](Interval run) {
        for (HostId host = run.first; host <= run.last; ++host) {
            hosts.push_back(host);
        }
    });
    Placement placement{.executors = hosts};
    ProgramIndex program = no_program;
    for (const std::uint32_t position : table_->ranks_of(job)) {
        placement.ranks.push_back(hosts[position]);
    }
    if (const auto layout = layouts_.find(job); layout != layouts_.end()) {
        placement.storages = layout->second.storages;
        program = layout->second.program;
        if (!layout->second.mapping.empty()) {
            placement.executors.clear();
            for (const std::uint32_t position : layout->second.mapping) {
                placement.executors.push_back(hosts[position]);
            }
        }
        layouts_.erase(layout);
    }
    const double limit = options_.enforce_walltime ? now_ + what.walltime : infinity;
    try {
        program = program == no_program ? table_->program_index(job) : program;
        if (program != no_program) {
            execution_->start(job, *table_->programs, program, std::move(placement), limit);
        } else {
            const double amount = amount_to_run(job);
            Program simple{.name = "", .action = Wait{amount}, .return_code = what.failing};
            if (what.kind == ProfileKind::compute) {
                simple.action = Computation{amount};
            }
            execution_->start(job, std::move(simple), std::move(placement), limit);
        }
    } catch (const InputError& error) {
        throw InputError("t=" + format_time(now_) + " job " + describe_job(job) + ": " +
                         error.what());
    }
}

// Programs of which every part takes any number of executors.
bool Engine::is_moldable(const Program& program) const {
    if (const auto* sequence = std::get_if<Sequence>(&program.action)) {
        return std::ranges::all_of(sequence->parts, [&](ProgramIndex part) {
            return is_moldable((*table_->programs)[part]);
        });
    }
    const auto* task = std::get_if<HomogeneousTask>(&program.action);
    const auto* work = std::get_if<Computation>(&program.action);
    return (task != nullptr && task->amounts != Amounts::each) || (work != nullptr && work->spread);
}

void Engine::run_machine() {
    parts_.machine->advance_to(now_);
    toggle_hosts();
    if (latency_) {
        run_with_letters();
        return;
    }
    for (const Ended& ended : parts_.machine->ended()) {
        if (!Execution::owns(ended.token)) {
            end_switch(static_cast<HostId>(ended.token & ~Execution::foreign));
            note_host_states();
            note_progress();
        }
    }
    settle_switches();
    proceed(parts_.machine->ended());
    for (JobMessage& message : execution_->take_messages()) {
        const auto number = static_cast<std::uint32_t>(messages_.size());
        events_.push_back({now_, number, EventKind::message_sent});
        messages_.push_back(std::move(message));
    }
}

void Engine::proceed(std::span<const Ended> activities) {
    try {
        for (const ProgramEnd& end : execution_->proceed(activities)) {
            using How = ProgramEnd::How;
            if (latency_ && latency_->ends.contains(end.job)) {
                continue;
            }
            if (end.how == How::host_failed && !latency_) {
                interrupt(end.job, JobState::failed, "a host or link failed");
                continue;
            }
            status_[end.job].outcome = end.how == How::out_of_time ? JobState::timed_out
                                       : end.how == How::done && end.return_code == 0
                                           ? JobState::completed
                                           : JobState::failed;
            end_run(end.job);
        }
    } catch (const InputError& error) {
        throw InputError("t=" + format_time(now_) + ": " + error.what());
    }
}

double Engine::end_on_machine(JobIndex job) {
    execution_->stop(job);
    return settle_joules(job);
}

double Engine::settle_joules(JobIndex job) {
    layouts_.erase(job);
    if (!record_->has_energy) {
        return not_a_time;
    }
    const double joules = joules_of(job) - joules_at_start_[job];
    joules_at_start_.erase(job);
    note_energy('e');
    return joules;
}

Progress Engine::progress(JobIndex job) const {
    const auto known = last_progress_.find(job);
    if (known != last_progress_.end()) {
        return known->second;
    }
    if (execution_ || status_[job].state != JobState::running) {
        return execution_ ? execution_->progress(job) : Progress{};
    }
    if (const auto changed = changed_.find(job); changed != changed_.end()) {
        return {{"", 0, done_of(job, changed->second)}};
    }
    const double lasts = duration(job);
    const double run = now_ - launch_date(job) - suspended_so_far(job);
    return {{"", 0, lasts > 0 ? std::clamp(run / lasts, 0.0, 1.0) : 1.0}};
}

void Engine::send_message(JobIndex job, const std::string& message) {
    const std::string what = "SendMessage(job_id=" + describe_job(job) + ")";
    if (status_[job].state > JobState::running && status_[job].state != JobState::pending) {
        return; // the message crossed the job's end
    }
    if (status_[job].state != JobState::running || !execution_) {
        refuse(what, "the job is not running a profile that receives messages");
    }
    if (message.size() > longest_message) {
        refuse(what, "got a message of " + std::to_string(message.size()) +
                         " characters, expected at most " + std::to_string(longest_message));
    }
    execution_->deliver(job, message);
}

void Engine::set_power_state(const HostSet& hosts, std::uint32_t state) {
    const std::string what =
        "SetPowerState(hosts=" + hosts.to_string() + ", state=" + std::to_string(state) + ")";
    if (!power_) {
        refuse(what, "the run counts no energy, so that its hosts have no power states");
    }
    if (hosts.empty() || hosts.intervals().back().last >= n_hosts()) {
        refuse(what, "expected hosts among 0-" + std::to_string(n_hosts() - 1));
    }
    std::vector<HostId> sleepers;
    for (const Interval& run : hosts.intervals()) {
        for (HostId host = run.first; host <= run.last; ++host) {
            if (const auto why =
                    power_->obstacle(host, state, free_.contains(host) || is_unavailable(host));
                !why.empty()) {
                refuse(what, why);
            }
            if (is_unavailable(host) &&
                (phase(host) != HostPhase::awake || power_->puts_to_sleep(host, state))) {
                refuse(what, "host " + std::to_string(host) + " is unavailable");
            }
            if (power_->puts_to_sleep(host, state)) {
                sleepers.push_back(host);
            }
        }
    }
    for (const HostId host : sleepers) {
        if (!counts_as_free(HostPhase::switching_off)) {
            free_.take({host, host});
        }
    }
    request_power_state(hosts, state, sleepers.empty() ? being_switched_on : being_switched_off);
}

// What has no obstacles.
void Engine::request_power_state(const HostSet& hosts, std::uint32_t state,
                                 std::int32_t meanwhile) {
    note_energy('p');
    const auto paused = book_ != nullptr ? pause_jobs(hosts, state) : std::vector<JobIndex>{};
    const std::uint32_t request = power_->begin(hosts, state);
    resume_jobs(paused);
    if (book_ != nullptr) {
        for (const PowerBook::Begun& begun : book_->take_begun()) {
            queue_.add(begun.end, EventRank::switched, begun.group);
        }
    }
    if (power_->request(request).n_left == 0) {
        record_->add_power_state(now_, hosts, static_cast<std::int32_t>(state));
        add_news(EventKind::power_state_changed, request);
        note_energy('p');
    } else {
        record_->add_power_state(now_, hosts, meanwhile);
    }
    note_host_states();
    note_progress();
}

void Engine::end_switch(HostId host) {
    const std::uint32_t number = power_->end_switch(host);
    if (wakes_hosts()) {
        follow_switch(host);
    } else if (phase(host) == HostPhase::awake && !is_unavailable(host)) {
        free_.give({host, host});
    }
    const PowerRequest& request = power_->request(number);
    if (request.n_left == 0) {
        record_->add_power_state(now_, request.hosts, static_cast<std::int32_t>(request.state));
        events_.push_back({now_, number, EventKind::power_state_changed});
        note_energy('p');
    }
}

bool Engine::is_switching() const {
    return power_ &&
           power_->count(HostPhase::switching_on) + power_->count(HostPhase::switching_off) > 0;
}

// Hosts that have failed run nothing until they are back.
void Engine::toggle_hosts() {
    for (const HostId host : parts_.machine->take_toggled()) {
        if (host >= n_hosts() || toggle_failed(host)) {
            continue;
        }
        const bool failed = !parts_.machine->is_on(host);
        if (failed && free_.contains(host)) {
            free_.take({host, host});
        }
        power_->set_failed(host, failed);
        events_.push_back({now_, host, failed ? EventKind::host_failed : EventKind::host_restored});
        if (failed) {
            fail_waking_jobs(host);
        }
        if (!failed && !is_held(host) && !is_unavailable(host)) {
            free_.give({host, host});
        }
        note_host_states();
        note_progress();
    }
}

bool Engine::is_held(HostId host) const {
    if (!n_holders_.empty()) {
        return n_holders_[host] > 0;
    }
    std::size_t cursor = 0;
    for (JobIndex job = 0; (job = next(running_, cursor)) != no_job;) {
        if (hosts(job).contains(host)) {
            return true;
        }
    }
    return completing_hosts().contains(host);
}

HostSet Engine::hosts_in(HostPhase phase) const {
    HostSet set;
    for (HostId host = 0; host < n_hosts(); ++host) {
        if (this->phase(host) == phase) {
            set.append({host, host});
        }
    }
    return set;
}

// A job that takes any number of hosts may hold others than it asked for.
std::uint32_t Engine::n_held(JobIndex job) const {
    std::uint32_t n = 0;
    record_->archive.for_each(status_[job].hosts, [&](Interval run) {
        if (run.first < n_hosts()) { // behind them are storages
            n += std::min(run.last, n_hosts() - 1) - run.first + 1;
        }
    });
    return n;
}

double Engine::joules_of(JobIndex job) const {
    double total = 0.0;
    record_->archive.for_each(status_[job].hosts, [&](Interval run) {
        for (HostId host = run.first; host <= run.last; ++host) {
            total += parts_.machine->joules(host);
        }
    });
    return total;
}

double Engine::joules() const {
    return book_ != nullptr      ? book_->total_joules()
           : record_->has_energy ? parts_.machine->total_joules()
                                 : not_a_time;
}

double Engine::joules(HostId host) {
    if (book_ == nullptr) {
        return record_->has_energy ? parts_.machine->joules(host) : not_a_time;
    }
    if (!book_->tracks_loads()) { // who asks once will ask again
        track_loads();
    }
    const Joules spent = book_->spent(host);
    return std::accumulate(spent.begin(), spent.end(), 0.0);
}

void Engine::note_energy(char why) {
    if (record_->has_energy) {
        const double least =
            book_ != nullptr ? book_->least_watts() : parts_.machine->least_watts();
        record_->add_energy({now_, record_->has_bills ? joules() : not_a_time, least, why});
    }
}

// The watts from now until something happens again.
void Engine::note_power() {
    if (!record_->has_energy || record_->has_bills) {
        return;
    }
    const double watts = book_ != nullptr ? book_->total_watts() : parts_.machine->total_watts();
    std::vector<double>& times = record_->power_time;
    if (!times.empty() && times.back() == now_) {
        record_->power_watts.back() = watts;
    } else if (times.empty() || record_->power_watts.back() != watts) {
        times.push_back(now_);
        record_->power_watts.push_back(watts);
    }
}

std::vector<std::string> Engine::warnings() const {
    return parts_.machine ? parts_.machine->network().warnings() : std::vector<std::string>{};
}

std::vector<Joules> Engine::spent() const {
    if (book_ != nullptr) {
        return spent_in_book();
    }
    std::vector<Joules> all;
    if (record_->has_energy) {
        for (HostId host = 0; host < n_hosts() + parts_.storages.size(); ++host) {
            all.push_back(parts_.machine->spent(host));
        }
    }
    return all;
}

} // namespace noctule
