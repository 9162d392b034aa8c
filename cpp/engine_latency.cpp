// Runs that pay Batsim's own latency (latency.hpp).
#include "engine.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace noctule {

void Courier::post(const Letter& letter) {
    waiting_.push_back(letter);
    if (!is_busy_) {
        send_next();
    }
}

void Courier::send_next() {
    constexpr double n_bytes = 1.0;
    is_busy_ = true;
    travelling_ = waiting_.front();
    waiting_.pop_front();
    machine_.send(travelling_.from, master_, n_bytes,
                  first_token | static_cast<Token>(Alarm::arrival));
}

Letter Courier::take() {
    const Letter arrived = travelling_;
    is_busy_ = false;
    if (!waiting_.empty()) {
        send_next();
    }
    return arrived;
}

void Courier::sleep_until(double date, Alarm who, std::uint32_t sleeper) {
    const Token token = first_token | Token{sleeper} << 2 | static_cast<Token>(who);
    machine_.sleep(master_, date - machine_.now(), token);
}

void Engine::set_up_latency(Submitters&& submitters) {
    const auto master = static_cast<HostId>(n_hosts() + parts_.storages.size());
    latency_ = std::make_unique<Latency>(*parts_.machine, master);
    if (submitters.jobs.empty() && end_of_arrivals_ > 0 && !arrivals_) {
        submitters.jobs.emplace_back(end_of_arrivals_);
        std::iota(submitters.jobs.front().begin(), submitters.jobs.front().end(), JobIndex{0});
    }
    latency_->arrived.resize(end_of_arrivals_);
    latency_->n_job_submitters = submitters.jobs.size() + (arrivals_ ? 1 : 0);
    latency_->n_event_submitters = submitters.events.size();
    for (std::vector<JobIndex>& jobs : submitters.jobs) {
        std::vector<double> dates;
        for (const JobIndex job : jobs) {
            dates.push_back(table_->jobs[job].submit_time);
        }
        latency_->submitters.push_back({false, std::move(dates), std::move(jobs)});
    }
    std::uint32_t number = 0;
    for (const std::vector<ExternalEvent>& events : submitters.events) {
        Submitter submitter{true, {}, {}};
        for (const ExternalEvent& event : events) {
            submitter.dates.push_back(event.time);
            submitter.subjects.push_back(number++);
        }
        latency_->submitters.push_back(std::move(submitter));
    }
}

bool Engine::advance_with_latency() {
    events_.clear();
    Latency& latency = *latency_;
    if (!started_) {
        started_ = true;
        for (std::uint32_t sender = 0; sender < latency.submitters.size(); ++sender) {
            latency.courier.post({Letter::Kind::hello, latency.courier.master(), 0, sender});
        }
        events_.push_back({now_, no_job, EventKind::simulation_started});
        return true;
    }
    latency.has_news = false;
    if (std::exchange(latency.must_ask, false) || instant_ == 0) {
        give_instructions();
    }
    while (!latency.must_ask) {
        if (is_over() && latency.n_job_submitters + latency.n_event_submitters == 0 &&
            latency.courier.is_idle() && latency.script.empty() && events_.empty()) {
            return false;
        }
        discard_dead_events();
        if (!go_to(next_time())) {
            return false;
        }
        run_machine();
        while (!queue_.empty() && queue_.next().time <= now_) {
            handle(queue_.pop());
        }
        if (arrivals_) {
            post_arrivals();
        }
    }
    count_call();
    return true;
}

// The scheduler gives its instructions one after the other, each at its date; then it is ready.
void Engine::give_instructions() {
    Latency& latency = *latency_;
    Courier& courier = latency.courier;
    std::deque<Instruction>& script = latency.script;
    while (!script.empty() && script.front().kind == Instruction::Kind::wait &&
           script.front().date <= now_) {
        script.pop_front();
    }
    if (script.empty()) {
        courier.post({Letter::Kind::ready, courier.master()});
    } else if (script.front().date > now_) {
        courier.sleep_until(script.front().date, Courier::Alarm::scheduler);
    } else {
        courier.post({Letter::Kind::instruction, courier.master()});
    }
}

void Engine::instruct(double date, Decision decision) {
    latency_->script.push_back(
        {.kind = Instruction::Kind::decision, .date = date, .decision = std::move(decision)});
}

bool Engine::defers_decisions() const { return latency_ && !latency_->is_delivering; }

// The date of an instruction, of a submission or of a call has come.
void Engine::wake(Token token) {
    const std::uint32_t sleeper = Courier::sleeper(token);
    switch (Courier::alarm(token)) {
    case Courier::Alarm::arrival:
        break;
    case Courier::Alarm::scheduler:
        latency_->script.front().date = now_; // a sleep may end a rounding before its date
        give_instructions();
        break;
    case Courier::Alarm::submitter:
        take_up_arrival(latency_->submitters[sleeper]);
        announce_arrivals(sleeper);
        break;
    case Courier::Alarm::call:
        latency_->courier.post({Letter::Kind::call, latency_->courier.master(), sleeper});
        break;
    }
}

// What has ended at this instant. Those who sleep until a date go on first, in the order in which
// they went to sleep, then the server, which opens the letter that has arrived, then jobs, and at
// last the sender of the letter.
void Engine::run_with_letters() {
    const std::span<const Ended> ended = parts_.machine->ended();
    bool has_arrived = false;
    for (const Ended& one : ended) {
        if (Courier::owns(one.token)) {
            const bool is_letter = Courier::alarm(one.token) == Courier::Alarm::arrival;
            has_arrived |= is_letter;
            if (!is_letter) {
                wake(one.token);
            }
        }
    }
    if (has_arrived) {
        deliver();
    }
    for (const Ended& one : ended) {
        if (!Courier::owns(one.token) && !Execution::owns(one.token)) {
            const auto host = static_cast<HostId>(one.token & ~Execution::foreign);
            latency_->courier.post({Letter::Kind::switched, host, host});
        }
    }
    proceed(ended);
    for (const Letter& letter : take_messages()) {
        latency_->courier.post(letter);
    }
    resume_sender();
}

void Engine::deliver() {
    Latency& latency = *latency_;
    const bool was_last = !latency.courier.has_waiting();
    const Letter letter = latency.courier.take();
    open(letter);
    for (const Letter& message : take_messages()) { // of a job that has just begun
        latency.spawned.push_back(message);
    }
    latency.must_ask = latency.is_ready && was_last && (!events_.empty() || latency.has_news);
    latency.is_ready = latency.is_ready && !latency.must_ask;
    latency.received = letter;
}

std::vector<Letter> Engine::take_messages() {
    std::vector<Letter> letters;
    for (JobMessage& message : execution_->take_messages()) {
        const HostId first = hosts(message.job).intervals().front().first;
        letters.push_back(
            {Letter::Kind::message, first, static_cast<std::uint32_t>(messages_.size())});
        messages_.push_back(std::move(message));
    }
    return letters;
}

void Engine::resume_sender() {
    Latency& latency = *latency_;
    if (const auto letter = std::exchange(latency.received, std::nullopt)) {
        resume(*letter);
    }
    for (const Letter& spawned : latency.spawned) {
        latency.courier.post(spawned);
    }
    latency.spawned.clear();
}

// What a letter causes.
void Engine::open(const Letter& letter) {
    Latency& latency = *latency_;
    switch (letter.kind) {
    case Letter::Kind::hello:
        latency.submitters[letter.sender].previous = now_;
        break;
    case Letter::Kind::submissions:
        take_in(latency.submitters[letter.sender], letter.subject);
        break;
    case Letter::Kind::arrival:
        submit(letter.subject);
        break;
    case Letter::Kind::bye:
        say_goodbye(letter.subject != 0);
        break;
    case Letter::Kind::instruction:
        latency.is_delivering = true;
        carry_out(latency.script.front());
        latency.is_delivering = false;
        latency.script.pop_front();
        break;
    case Letter::Kind::ready:
        latency.is_ready = true;
        break;
    case Letter::Kind::ended:
        finish(letter.subject);
        break;
    case Letter::Kind::killed:
        end_killed(letter.subject);
        break;
    case Letter::Kind::message:
        events_.push_back({now_, letter.subject, EventKind::message_sent});
        execution_->go_on_after_message(messages_[letter.subject].job);
        break;
    case Letter::Kind::call:
        fire(letter.subject);
        break;
    case Letter::Kind::switched:
        end_switch(letter.subject);
        note_host_states();
        note_progress();
        break;
    }
}

// What the sender of a letter does once it has arrived.
void Engine::resume(const Letter& letter) {
    switch (letter.kind) {
    case Letter::Kind::hello:
    case Letter::Kind::submissions:
        sleep_until_arrival(letter.sender);
        break;
    case Letter::Kind::instruction:
        give_instructions();
        break;
    default:
        break;
    }
}

void Engine::carry_out(const Instruction& instruction) {
    switch (instruction.kind) {
    case Instruction::Kind::decision:
        perform(instruction.decision);
        break;
    case Instruction::Kind::begin:
        begin_later(instruction.job);
        break;
    case Instruction::Kind::wait:
        break;
    }
}

// The hosts of a job were held when its start was decided; now it begins.
void Engine::begin_later(JobIndex job) {
    withdraw_release(job, expected_end(job));
    status_[job].start_time = now_;
    enter_release(job, expected_end(job));
    begin_on_machine(job, launch_delay_of(job));
}

// A submitter takes up what has its date now, and announces it when that of another has not come;
// its sleep is as long as if the letter had taken no time.
void Engine::sleep_until_arrival(std::uint32_t number) {
    Latency& latency = *latency_;
    const Submitter& submitter = latency.submitters[number];
    if (submitter.n_arrived == submitter.n_taken_up &&
        submitter.n_taken_up < submitter.dates.size()) {
        const double date = submitter.dates[submitter.n_taken_up];
        if (date > submitter.previous) {
            latency.courier.sleep_until(now_ + (date - submitter.previous),
                                        Courier::Alarm::submitter, number);
            return;
        }
    }
    announce_arrivals(number);
}

void Engine::take_up_arrival(Submitter& submitter) {
    ++submitter.n_taken_up;
    submitter.previous = now_;
}

void Engine::announce_arrivals(std::uint32_t number) {
    Submitter& submitter = latency_->submitters[number];
    Courier& courier = latency_->courier;
    while (submitter.n_taken_up < submitter.dates.size() &&
           submitter.dates[submitter.n_taken_up] <= submitter.previous) {
        take_up_arrival(submitter);
    }
    if (submitter.n_taken_up > submitter.n_arrived) {
        const auto end = static_cast<std::uint32_t>(submitter.n_taken_up);
        courier.post({Letter::Kind::submissions, courier.master(), end, number});
    } else if (!submitter.says_bye) {
        submitter.says_bye = true;
        courier.post({Letter::Kind::bye, courier.master(), submitter.of_events ? 1U : 0U, number});
    }
}

void Engine::take_in(Submitter& submitter, std::size_t end) {
    for (; submitter.n_arrived < end; ++submitter.n_arrived) {
        const std::uint32_t subject = submitter.subjects[submitter.n_arrived];
        if (submitter.of_events) {
            occur(subject);
            continue;
        }
        ++next_arrival_;
        latency_->arrived[subject] = true;
        if (waited_.empty() || waited_[subject].left == 0) {
            submit(subject);
        }
    }
}

// When the last submitter of its kind leaves, the scheduler is told so.
void Engine::say_goodbye(bool of_events) {
    std::size_t& n_left = of_events ? latency_->n_event_submitters : latency_->n_job_submitters;
    if (--n_left > 0) {
        return;
    }
    latency_->has_news = true;
    if (options_.batsim_events) {
        tell(of_events ? EventKind::external_events_ended : EventKind::submissions_ended, 0);
    }
}

void Engine::end_killed(std::uint32_t group) {
    for (const JobIndex job : kills_[group]) {
        if (status_[job].state == JobState::running && status_[job].outcome == JobState::killed) {
            finish(job);
        }
    }
    latency_->has_news = true;
    if (options_.batsim_events) {
        tell(EventKind::jobs_killed, group);
    }
}

// A job has ended; the server hears of it later. A task that has reached the walltime is not
// stopped before, as in Batsim.
void Engine::end_unheard(JobIndex job) {
    Latency& latency = *latency_;
    if (latency.ends.contains(job)) {
        return;
    }
    if (status_[job].outcome == JobState::timed_out) {
        execution_->abandon(job);
    } else {
        execution_->stop(job);
    }
    latency.ends[job] = {now_, settle_joules(job)};
    if (status_[job].outcome != JobState::killed) {
        const HostId first = hosts(job).intervals().front().first;
        latency.courier.post({Letter::Kind::ended, first, job});
    }
}

} // namespace noctule
