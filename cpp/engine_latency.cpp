// Runs that pay Batsim's own latency (latency.hpp).
#include "engine.hpp"

#include <algorithm>

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

void Courier::sleep_until(double date, Alarm who) {
    machine_.sleep(master_, date - machine_.now(), first_token | static_cast<Token>(who));
}

void Engine::set_up_latency() {
    if (parts_.has_latency) {
        const auto master = static_cast<HostId>(n_hosts() + parts_.storages.size());
        latency_ = std::make_unique<Latency>(*parts_.machine, master);
    }
}

bool Engine::advance_with_latency() {
    events_.clear();
    Latency& latency = *latency_;
    if (!started_) {
        started_ = true;
        if (end_of_arrivals_ > 0) {
            latency.courier.post({Letter::Kind::hello, latency.courier.master()});
        }
        events_.push_back({now_, no_job, EventKind::simulation_started});
        return true;
    }
    latency.has_news = false;
    if (std::exchange(latency.must_ask, false) || instant_ == 0) {
        give_instructions();
    }
    while (!latency.must_ask) {
        if (is_over() && latency.courier.is_idle() && latency.script.empty() && events_.empty()) {
            return false;
        }
        discard_dead_events();
        if (!go_to_next_time()) {
            return false;
        }
        run_machine();
        while (!queue_.empty() && queue_.next().time <= now_) {
            handle(queue_.pop());
        }
    }
    ++instant_;
    refuse_livelock();
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

void Engine::instruct(Instruction instruction) {
    std::deque<Instruction>& script = latency_->script;
    const auto is_kill = [](const Instruction& one) {
        return one.kind == Instruction::Kind::decision && one.decision.kind == Decision::Kind::kill;
    };
    if (!script.empty() && is_kill(script.back()) && is_kill(instruction) &&
        script.back().date == instruction.date) {
        script.back().also.push_back(instruction.decision.job);
    } else {
        script.push_back(std::move(instruction));
    }
}

void Engine::say(Instruction instruction) {
    if (latency_) {
        instruct(std::move(instruction));
    }
}

bool Engine::defers_decisions() const { return latency_ && !latency_->is_delivering; }

// Something that the courier waits for has come: a letter, or the date of an instruction or a
// submission.
void Engine::wake(Courier::Alarm alarm) {
    switch (alarm) {
    case Courier::Alarm::arrival:
        deliver();
        break;
    case Courier::Alarm::scheduler:
        latency_->script.front().date = now_; // a sleep may end a rounding before its date
        give_instructions();
        break;
    case Courier::Alarm::submitter:
        take_up_arrival();
        announce_arrivals();
        break;
    }
}

void Engine::deliver() {
    Latency& latency = *latency_;
    const bool was_last = !latency.courier.has_waiting();
    const Letter letter = latency.courier.take();
    open(letter);
    latency.must_ask = latency.is_ready && was_last && (!events_.empty() || latency.has_news);
    latency.is_ready = latency.is_ready && !latency.must_ask;
    resume(letter);
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
        latency.previous = now_;
        break;
    case Letter::Kind::submissions:
        while (next_arrival_ < letter.subject) {
            const JobIndex job = next_arrival_++;
            if (waited_.empty() || waited_[job].left == 0) {
                submit(job);
            }
        }
        break;
    case Letter::Kind::bye:
        latency.has_news = true;
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
        for (const JobIndex job : latency.kills[letter.subject]) {
            if (status_[job].state == JobState::running &&
                status_[job].outcome == JobState::killed) {
                finish(job);
            }
        }
        break;
    case Letter::Kind::message:
        events_.push_back({now_, letter.subject, EventKind::message_sent});
        execution_->go_on_after_message(messages_[letter.subject].job);
        break;
    case Letter::Kind::call:
        fire(letter.subject);
        break;
    case Letter::Kind::switched:
        end_switch(Execution::foreign | letter.subject);
        break;
    }
}

// What the sender of a letter does once it has arrived.
void Engine::resume(const Letter& letter) {
    switch (letter.kind) {
    case Letter::Kind::hello:
    case Letter::Kind::submissions:
        sleep_until_arrival();
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
        if (instruction.decision.kind == Decision::Kind::kill) {
            std::vector<JobIndex> jobs{instruction.decision.job};
            jobs.insert(jobs.end(), instruction.also.begin(), instruction.also.end());
            for (const JobIndex job : jobs) {
                kill(job);
            }
            const auto number = static_cast<std::uint32_t>(latency_->kills.size());
            latency_->spawned.push_back({Letter::Kind::killed, latency_->courier.master(), number});
            latency_->kills.push_back(std::move(jobs));
        } else {
            apply(instruction.decision);
        }
        break;
    case Instruction::Kind::begin:
        begin_later(instruction.job);
        break;
    case Instruction::Kind::call:
        call_at(std::max(instruction.time, now_), instruction.tag);
        break;
    case Instruction::Kind::submit:
        submit(instruction.job);
        break;
    case Instruction::Kind::question:
        latency_->has_news = true;
        break;
    case Instruction::Kind::nothing:
    case Instruction::Kind::wait:
        break;
    }
}

// The hosts of a job were held when its start was decided; now it begins.
void Engine::begin_later(JobIndex job) {
    const Job& what = table_->jobs[job];
    Status& status = status_[job];
    if (track_releases_) {
        releases_.remove(status.start_time + what.walltime, job);
        releases_.add({now_ + what.walltime, job, what.n_hosts});
    }
    status.start_time = now_;
    begin_on_machine(job, options_.launch_delay + table_->launch_delay(job));
}

// The submitter takes up the jobs whose dates have come, and announces them when that of another
// has not; its sleep is as long as if the letter had taken no time.
void Engine::sleep_until_arrival() {
    Latency& latency = *latency_;
    Courier& courier = latency.courier;
    if (next_arrival_ == latency.next_announced && latency.next_announced < end_of_arrivals_) {
        const double submit_time = table_->jobs[latency.next_announced].submit_time;
        if (submit_time > latency.previous) {
            courier.sleep_until(now_ + (submit_time - latency.previous), Courier::Alarm::submitter);
            return;
        }
    }
    announce_arrivals();
}

void Engine::take_up_arrival() {
    ++latency_->next_announced;
    latency_->previous = now_;
}

void Engine::announce_arrivals() {
    Latency& latency = *latency_;
    const HostId master = latency.courier.master();
    while (latency.next_announced < end_of_arrivals_ &&
           table_->jobs[latency.next_announced].submit_time <= latency.previous) {
        take_up_arrival();
    }
    if (latency.next_announced > next_arrival_) {
        latency.courier.post({Letter::Kind::submissions, master, latency.next_announced});
    } else if (!latency.says_bye) {
        latency.says_bye = true;
        latency.courier.post({Letter::Kind::bye, master});
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
