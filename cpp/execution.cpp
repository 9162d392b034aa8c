#include "execution.hpp"

#include "errors.hpp"
#include "mpi/replay.hpp"

#include <algorithm>
#include <cmath>
#include <regex>
#include <utility>

namespace noctule {

namespace {

// Tokens of a run: its job, and which of its activities.
constexpr int job_shift = 31;
constexpr Token part_mask = (Token{1} << job_shift) - 1;
// Ranks of a trace have an activity each, and one more that reports their end.
constexpr Token reporting = Token{1} << 30;
constexpr ActivityId no_activity = 0xffffffff;

Token token_of(JobIndex job, Token part) { return Token{job} << job_shift | part; }
JobIndex job_of(Token token) { return static_cast<JobIndex>(token >> job_shift); }

} // namespace

struct Execution::Run {
    JobIndex job;
    Placement placement;
    double limit;
    const ProgramTable* programs = nullptr;
    Program own{};                        // of a program without parts
    std::vector<Frame> frames{};          // from the outermost to the innermost
    std::vector<ActivityId> activities{}; // by rank of a trace; otherwise one
    bool is_waiting = false;              // for activities; otherwise there is a next step to do
    bool is_out_of_time = false;          // once its sleep is over
    int return_code = 0;
    std::size_t n_ranks_left = 0;          // of a trace
    std::deque<std::size_t> reports{};     // ranks that have ended; the first is reporting it
    std::vector<std::size_t> next_usage{}; // by rank
    std::unique_ptr<mpi::Replay> replay{};
    std::deque<std::string> inbox{};
};

Execution::Execution(Machine& machine, std::vector<HostId> storages, ExecutionOptions options)
    : machine_(machine), storages_(std::move(storages)), options_(options) {}

Execution::~Execution() = default;

void Execution::start(JobIndex job, const ProgramTable& programs, ProgramIndex program,
                      Placement placement, double limit) {
    auto run = std::make_unique<Run>(Run{job, std::move(placement), limit, &programs});
    start(std::move(run), programs[program]);
}

void Execution::start(JobIndex job, Program program, Placement placement, double limit) {
    auto run = std::make_unique<Run>(Run{job, std::move(placement), limit});
    run->own = std::move(program);
    const Program& own = run->own;
    start(std::move(run), own);
}

void Execution::start(std::unique_ptr<Run> run, const Program& program) {
    Run& started = *runs_.emplace(run->job, std::move(run)).first->second;
    started.frames.push_back({&program});
    begin(started);
    settle(started, true);
}

void Execution::stop(JobIndex job) {
    const auto found = runs_.find(job);
    if (found == runs_.end()) {
        return;
    }
    Run& run = *found->second;
    if (run.replay) {
        run.replay->cancel();
    }
    if (run.is_waiting) {
        for (const ActivityId activity : run.activities) {
            if (activity != no_activity) {
                machine_.cancel(activity);
            }
        }
    }
    runs_.erase(found);
}

void Execution::abandon(JobIndex job) {
    const auto found = runs_.find(job);
    if (found != runs_.end() && found->second->n_ranks_left == 0) {
        found->second->frames.clear();
    } else {
        stop(job);
    }
}

std::span<const ProgramEnd> Execution::proceed(std::span<const Ended> ended) {
    ends_.clear();
    for (const Ended& one : ended) {
        const auto found = owns(one.token) ? runs_.find(job_of(one.token)) : runs_.end();
        if (found != runs_.end()) { // else it has ended, by another of its activities
            proceed(*found->second, one);
        }
    }
    return ends_;
}

void Execution::proceed(Run& run, const Ended& ended) {
    if (ended.how == Ending::failed) {
        end(run, ProgramEnd::How::host_failed, 1);
        return;
    }
    if (run.is_out_of_time) {
        end(run, ProgramEnd::How::out_of_time, -1);
        return;
    }
    const Token part = ended.token & part_mask;
    if (run.frames.empty()) {
        end(run, ProgramEnd::How::done, run.return_code);
        return;
    }
    const Action& action = run.frames.back().program->action;
    if ((part & reporting) != 0) {
        end_report(run);
    } else if (run.replay) {
        run.replay->on_end(part);
        report_ranks(run);
    } else if (const auto* trace = std::get_if<UsageTrace>(&action)) {
        use_cores(run, *trace, part);
    } else if (std::holds_alternative<Receive>(action)) {
        receive(run);
    } else {
        leave_part(run, run.frames.back().program->return_code);
    }
    settle(run, false);
}

// Does steps until one takes time, or the program has ended.
void Execution::go_on(Run& run) {
    while (!run.is_waiting && !run.frames.empty()) {
        Frame& frame = run.frames.back();
        const auto& sequence = std::get<Sequence>(frame.program->action);
        if (frame.part == sequence.parts.size()) {
            frame.part = 0;
            ++frame.repetition;
        }
        if (frame.repetition == sequence.repeat) {
            leave_part(run, frame.program->return_code);
        } else {
            const ProgramIndex part = sequence.parts[frame.part++];
            run.frames.push_back({&(*run.programs)[part]});
            begin(run);
        }
    }
}

// A program may have nothing to do, but ends when others can be told.
void Execution::settle(Run& run, bool at_start) {
    go_on(run);
    if (run.frames.empty() && at_start) {
        await(run, machine_.sleep(run.placement.executors.front(), 0.0, token_of(run.job, 0)));
    } else if (run.frames.empty()) {
        end(run, ProgramEnd::How::done, run.return_code);
    }
}

void Execution::begin(Run& run) {
    std::visit([&](const auto& action) { act(run, action); }, run.frames.back().program->action);
}

// A part that fails ends the whole program.
void Execution::leave_part(Run& run, int code) {
    run.is_waiting = false;
    run.activities.clear();
    run.frames.pop_back();
    run.return_code = code;
    if (code != 0) {
        run.frames.clear();
    }
}

void Execution::end(Run& run, ProgramEnd::How how, int code) {
    ends_.push_back({run.job, how, code});
    stop(run.job);
}

void Execution::act(Run& run, const Sequence&) { run.is_waiting = false; }

void Execution::act(Run& run, const Wait& wait) { sleep(run, wait.seconds); }

// A sleep that reaches the limit does not end before it.
void Execution::sleep(Run& run, double seconds) {
    const double left = run.limit - machine_.now();
    run.is_out_of_time = seconds >= left;
    await(run, machine_.sleep(run.placement.executors.front(), std::min(seconds, left),
                              token_of(run.job, 0)));
}

void Execution::await(Run& run, ActivityId activity) {
    run.is_waiting = true;
    run.activities = {activity};
}

void Execution::act(Run& run, const Computation& computation) {
    const auto n = static_cast<double>(run.placement.executors.size());
    const double work = computation.spread ? computation.work / n : computation.work;
    await(run, machine_.run_alike(run.placement.executors, work * options_.reference_speed, 0.0,
                                  token_of(run.job, 0)));
}

void Execution::act(Run& run, const ParallelTask& task) {
    await(run, machine_.run(run.placement.executors, task.flops, task.bytes, token_of(run.job, 0)));
}

void Execution::act(Run& run, const HomogeneousTask& task) {
    const auto n = static_cast<double>(run.placement.executors.size());
    double flops = task.flops;
    double bytes = task.bytes;
    if (task.amounts != Amounts::each) {
        flops /= n;
        bytes /= task.amounts == Amounts::spread ? std::max(n * n - n, 1.0) : n;
    }
    await(run, machine_.run_alike(run.placement.executors, flops, bytes, token_of(run.job, 0)));
}

void Execution::act(Run& run, const StorageTransfer& transfer) {
    const HostId storage = storage_of(run, transfer.storage);
    const auto n = static_cast<double>(run.placement.executors.size());
    const double share = transfer.spread ? 1.0 / n : 1.0;
    std::vector<Flow> flows;
    for (const HostId host : run.placement.executors) {
        flows.push_back({storage, host, transfer.read_bytes * share});
        flows.push_back({host, storage, transfer.written_bytes * share});
    }
    std::vector<HostId> hosts = run.placement.executors;
    hosts.push_back(storage);
    await(run, machine_.transfer(hosts, flows, token_of(run.job, 0)));
}

void Execution::act(Run& run, const Staging& staging) {
    const HostId from = storage_of(run, staging.from);
    const HostId to = storage_of(run, staging.to);
    await(run, machine_.send(from, to, staging.bytes, token_of(run.job, 0)));
}

HostId Execution::storage_of(const Run& run, const std::string& label) const {
    const auto named = run.placement.storages.find(label);
    if (named != run.placement.storages.end()) {
        return named->second;
    }
    if (run.placement.storages.empty() && storages_.size() == 1) {
        return storages_.front();
    }
    throw InputError("profile " + run.frames.back().program->name + ": storage '" + label +
                     "': the job was given no host for it, and the platform has " +
                     std::to_string(storages_.size()) + " storage hosts, expected one of the two");
}

void Execution::act(Run& run, const Send& send) {
    messages_.push_back({run.job, send.message});
    if (options_.messages_travel) {
        run.is_waiting = true;
        run.activities.clear();
    } else {
        sleep(run, send.seconds);
    }
}

void Execution::go_on_after_message(JobIndex job) {
    const auto found = runs_.find(job);
    if (found != runs_.end() && !found->second->frames.empty()) { // else it was out of time
        Run& run = *found->second;
        sleep(run, std::get<Send>(run.frames.back().program->action).seconds);
    }
}

void Execution::act(Run& run, const Receive&) { receive(run); }

void Execution::receive(Run& run) {
    const auto& what = std::get<Receive>(run.frames.back().program->action);
    if (run.inbox.empty() && what.timeout == no_program) {
        sleep(run, what.poll_seconds);
        return;
    }
    ProgramIndex next = what.timeout;
    if (!run.inbox.empty()) {
        const bool fits = std::regex_match(run.inbox.front(), std::regex(what.pattern));
        run.inbox.pop_front();
        next = fits ? what.success : what.failure;
    }
    leave_part(run, run.frames.back().program->return_code);
    if (next != no_program && run.return_code == 0) {
        run.frames.push_back({&(*run.programs)[next]});
        begin(run);
    }
}

void Execution::deliver(JobIndex job, std::string message) {
    const auto found = runs_.find(job);
    if (found != runs_.end()) {
        found->second->inbox.push_back(std::move(message));
    }
}

std::vector<JobMessage> Execution::take_messages() { return std::exchange(messages_, {}); }

void Execution::act(Run& run, const UsageTrace& trace) {
    run.is_waiting = true;
    run.n_ranks_left = trace.ranks.size();
    run.next_usage.assign(trace.ranks.size(), 0);
    run.activities.assign(trace.ranks.size(), no_activity);
    for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
        use_cores(run, trace, rank);
    }
}

// Begins the next usage of a rank: alike computations on so many cores of its host.
void Execution::use_cores(Run& run, const UsageTrace& trace, std::size_t rank) {
    const std::size_t next = run.next_usage[rank]++;
    if (next == trace.ranks[rank].size()) {
        run.activities[rank] = no_activity;
        report_rank(run, rank);
        return;
    }
    const Usage& usage = trace.ranks[rank][next];
    const HostId host = host_of_rank(run, rank);
    const double cores = std::round(usage.share * machine_.model(host).cores);
    const std::vector<HostId> entries(std::max<std::size_t>(1, static_cast<std::size_t>(cores)),
                                      host);
    run.activities[rank] = machine_.run_alike(entries, usage.flops, 0.0, token_of(run.job, rank));
}

void Execution::act(Run& run, const MpiTrace& trace) {
    std::vector<HostId> hosts;
    for (std::size_t rank = 0; rank < trace.trace->n_ranks(); ++rank) {
        hosts.push_back(host_of_rank(run, rank));
    }
    run.is_waiting = true;
    run.n_ranks_left = hosts.size();
    run.activities.clear();
    run.replay = std::make_unique<mpi::Replay>(machine_, trace.trace, std::move(hosts),
                                               token_of(run.job, 0));
    run.replay->start();
    report_ranks(run);
}

HostId Execution::host_of_rank(const Run& run, std::size_t rank) {
    const Placement& placement = run.placement;
    return placement.ranks.empty() ? placement.executors[rank % placement.executors.size()]
                                   : placement.ranks[rank];
}

void Execution::report_ranks(Run& run) {
    for (const std::size_t rank : run.replay->take_ended_ranks()) {
        report_rank(run, rank);
    }
}

// In Batsim 4 the first host is told by a message that a rank has ended; it takes one at a time.
void Execution::report_rank(Run& run, std::size_t rank) {
    if (!options_.report_ranks) {
        end_rank(run);
        return;
    }
    run.reports.push_back(rank);
    if (run.reports.size() == 1) {
        send_report(run);
    }
}

void Execution::send_report(Run& run) {
    constexpr double n_bytes = 4.0;
    const std::size_t rank = run.reports.front();
    const ActivityId message =
        machine_.send(host_of_rank(run, rank), run.placement.executors.front(), n_bytes,
                      token_of(run.job, reporting | rank));
    if (run.replay) {
        run.activities = {message};
    } else {
        run.activities[rank] = message;
    }
}

void Execution::end_report(Run& run) {
    run.activities[run.replay ? 0 : run.reports.front()] = no_activity;
    run.reports.pop_front();
    if (!run.reports.empty()) {
        send_report(run);
    }
    end_rank(run);
}

void Execution::end_rank(Run& run) {
    if (--run.n_ranks_left == 0) {
        run.replay.reset();
        leave_part(run, run.frames.back().program->return_code);
    }
}

Progress Execution::progress(JobIndex job) const {
    Progress levels;
    const auto found = runs_.find(job);
    if (found == runs_.end()) {
        return levels;
    }
    const Run& run = *found->second;
    for (const Frame& frame : run.frames) {
        if (const auto* sequence = std::get_if<Sequence>(&frame.program->action)) {
            const auto length = static_cast<std::int64_t>(sequence->parts.size());
            levels.push_back(
                {frame.program->name, frame.repetition * length + frame.part - 1, 0.0});
        } else if (run.activities.size() == 1 && run.n_ranks_left == 0) {
            levels.push_back(
                {frame.program->name, 0, 1.0 - machine_.remaining(run.activities.front())});
        } else {
            levels.push_back({frame.program->name, -1, 0.0});
        }
    }
    return levels;
}

std::string Execution::stuck() const {
    for (const auto& [job, run] : runs_) {
        if (run->replay) {
            const std::string why = run->replay->stuck();
            if (!why.empty()) {
                return why;
            }
        }
    }
    return "";
}

} // namespace noctule
