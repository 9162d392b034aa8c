#include "slurm/model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace noctule::slurm {

namespace {

constexpr TimerTag tag = 0;
// Without anything running, after which a queue will not move any more: priorities of a week ago
// have decayed and all windows of planning have passed.
constexpr double patience = 8 * 86400.0;
// Seconds: Slurm's default is two microseconds, which no pass of the model takes.
constexpr double least_spacing = 1e-3;

} // namespace

Model::Model(std::shared_ptr<const Settings> settings, Requests requests, const Plugins& plugins,
             Drive drive)
    : drive_(std::move(drive)), controller_(std::move(settings), std::move(requests), plugins),
      main_(controller_), backfill_(controller_), main_clock_(drive_, controller_.parameters()),
      backfill_clock_(drive_, controller_.parameters()), limit_clock_(drive_) {}

Seconds Model::second(double time) const {
    return controller_.settings().epoch + static_cast<Seconds>(std::floor(time));
}

double Model::run_time(Seconds second) const {
    return static_cast<double>(second - controller_.settings().epoch);
}

void Model::decide(const View& view, std::span<const Event> events, Decisions& decisions) {
    const Moment moment{view, decisions, second(view.now())};
    catch_up(view.now());
    for (const Event& event : events) {
        handle(moment, event);
    }
    if (controller_.save_power(moment)) {
        request_pass(view.now());
    }
    controller_.start_given(moment);
    change_turns(moment);
    run_due(moment);
    give_up_if_stuck(moment);
    arm(moment);
}

// What nobody had to watch: priorities that were computed afresh, passes over an empty queue.
void Model::catch_up(double now) {
    Priority& priority = controller_.priority();
    bool changed = false;
    const double date = now + static_cast<double>(controller_.settings().epoch);
    for (auto due = priority.next_recomputation(); due && *due <= date;
         due = priority.next_recomputation()) {
        changed |= priority.recompute(*due);
    }
    if (changed && !backfill_.is_under_way()) {
        controller_.queue().sort_afresh();
    }
    const double last_update = run_time(controller_.last_update());
    if (drive_.mode == Drive::Mode::bsc) {
        skip_step_backfills(now);
        return;
    }
    if (!controller_.queue().empty()) {
        backfill_clock_.look_until(now, last_update);
        return;
    }
    main_clock_.skip_until(now);
    if (!backfill_.is_under_way()) {
        backfill_clock_.skip_until(now, last_update);
    }
}

void Model::handle(const Moment& moment, const Event& event) {
    const double now = moment.view.now();
    switch (event.kind) {
    case EventKind::simulation_started:
        controller_.set_windows(moment.view);
        controller_.begin_power_saving(moment);
        break;
    case EventKind::job_submitted:
        if (moment.view.is_waiting(event.subject)) {
            controller_.submit(moment, event.subject);
            request_pass(now);
            if (moment.view.origin(event.subject) == event.subject) {
                last_progress_ = now;
            }
        }
        break;
    case EventKind::job_cancelled:
        controller_.cancel(event.subject, moment.now);
        break;
    case EventKind::job_finished:
        controller_.end(moment, event.subject);
        if (controller_.status(event.subject).phase == JobStatus::Phase::ended) {
            last_progress_ = now;
        }
        if (!moment.view.is_completing(event.subject)) {
            note_end(moment, event.subject);
        }
        break;
    case EventKind::hosts_released:
        controller_.free_nodes(event.subject, moment.now);
        note_end(moment, event.subject);
        break;
    case EventKind::hosts_unavailable:
    case EventKind::hosts_available:
        controller_.set_available(moment.view.external_event(event.subject).hosts,
                                  event.kind == EventKind::hosts_available, moment.now);
        request_pass(now);
        break;
    case EventKind::host_failed:
    case EventKind::host_restored: {
        const HostSet host = HostSet::from_intervals({{event.subject, event.subject}});
        controller_.set_available(host, event.kind == EventKind::host_restored, moment.now);
        request_pass(now);
        break;
    }
    case EventKind::window_announced:
    case EventKind::window_began:
    case EventKind::window_ended:
        controller_.set_windows(moment.view);
        controller_.touch(moment.now);
        request_pass(now);
        break;
    default:
        break;
    }
}

// Something happened that a pass should look at; a step of BSC's simulator has one.
void Model::request_pass(double now) {
    main_clock_.request(now);
    step_ = std::ceil(now);
}

// The nodes of a job are free: a pass is asked for, at once if it was killed or has an epilogue.
void Model::note_end(const Moment& moment, JobIndex job) {
    const double now = moment.view.now();
    const Parameters& parameters = controller_.parameters();
    const bool killed = controller_.status(job).killed;
    if ((killed || parameters.has_epilog) && !parameters.defer) {
        immediate_ = std::min(immediate_, now + (killed ? drive_.kill_latency : 0.0));
    } else {
        main_clock_.request(now);
    }
    step_ = std::ceil(now);
}

void Model::run_due(const Moment& moment) {
    switch (drive_.mode) {
    case Drive::Mode::passes:
        run_given(moment);
        break;
    case Drive::Mode::clocks:
        run_clocks(moment);
        break;
    case Drive::Mode::bsc:
        run_steps(moment);
        break;
    }
}

// Runs a main pass, or keeps it for later if one has just been.
void Model::run_main(const Moment& moment, bool full) {
    const double now = moment.view.now();
    const double spacing = controller_.parameters().sched_min_interval_us * 1e-6;
    if (drive_.mode == Drive::Mode::clocks && spacing >= least_spacing &&
        now < last_main_ + spacing) {
        postponed_ = last_main_ + spacing;
        postponed_is_full_ |= full;
        return;
    }
    full |= std::exchange(postponed_is_full_, false);
    postponed_ = infinity;
    last_main_ = now;
    if (controller_.queue().empty() || (!controller_.parameters().reduce_completing_frag &&
                                        controller_.waits_for_completion(moment.now))) {
        return;
    }
    controller_.note_queue(moment.now);
    main_.run(moment, now, full);
}

void Model::run_backfill(const Moment& moment) {
    const double now = moment.view.now();
    if (!backfill_.is_under_way()) {
        controller_.note_queue(moment.now);
    }
    const std::optional<double> away =
        backfill_.is_under_way() ? backfill_.resume(moment, now) : backfill_.begin(moment, now);
    resume_ = away ? now + *away : infinity;
    if (!away) {
        backfill_clock_.ran(now, now + backfill_.seconds_worked());
    }
}

void Model::run_given(const Moment& moment) {
    for (;
         next_given_ < drive_.passes.size() && drive_.passes[next_given_].time <= moment.view.now();
         ++next_given_) {
        const Drive::Pass& pass = drive_.passes[next_given_];
        if (pass.time < moment.view.now() || controller_.queue().empty()) {
            continue;
        }
        if (pass.kind == PassKind::backfill) {
            run_backfill(moment);
        } else {
            run_main(moment, pass.kind == PassKind::full);
        }
    }
}

void Model::run_clocks(const Moment& moment) {
    const double now = moment.view.now();
    kill_late(moment);
    if (immediate_ <= now) {
        immediate_ = infinity;
        run_main(moment, false);
    }
    if (const MainClock::Pass pass = main_clock_.next(); pass.time <= now) {
        main_clock_.ran({now, pass.full});
        run_main(moment, pass.full);
    }
    if (postponed_ <= now) {
        run_main(moment, false);
    }
    if (!controller_.parameters().backfills) {
        return;
    }
    if (resume_ <= now) {
        run_backfill(moment);
    } else if (!backfill_.is_under_way() && !controller_.queue().empty() &&
               backfill_clock_.next(run_time(controller_.last_update())) <= now) {
        if (controller_.waits_for_completion(moment.now)) {
            backfill_clock_.looked(now);
        } else {
            run_backfill(moment);
        }
    }
}

// BSC's simulator: a pass in each second in which anything happened, and backfilling when its
// interval has passed and anything changed. Its schedulers never sleep.
void Model::run_steps(const Moment& moment) {
    const double now = moment.view.now();
    kill_late(moment);
    if (step_ <= now) {
        step_ = infinity;
        run_main(moment, false);
    }
    if (now == std::floor(now) && now >= next_step_backfill()) {
        last_step_backfill_ = now;
        do {
            run_backfill(moment);
        } while (backfill_.is_under_way());
        resume_ = infinity;
    }
}

// Jobs whose time had not come by the last pass make no event when it does.
double Model::next_step_backfill() const {
    const bool changed = run_time(controller_.last_update()) >= last_step_backfill_;
    if (!controller_.parameters().backfills ||
        (!changed && controller_.all_eligible(second(last_step_backfill_)))) {
        return infinity;
    }
    return last_step_backfill_ + static_cast<double>(controller_.parameters().bf_interval) + 1;
}

// Passes that found no jobs: nobody had to watch them.
void Model::skip_step_backfills(double now) {
    const double last_update = run_time(controller_.last_update());
    while (controller_.queue().empty() && last_update >= last_step_backfill_) {
        const double due =
            last_step_backfill_ + static_cast<double>(controller_.parameters().bf_interval) + 1;
        if (std::max(due, last_update) >= now) {
            return;
        }
        last_step_backfill_ = std::max(due, last_update);
    }
}

// Ends jobs that have run for longer than they may, if time limits are checked now.
void Model::kill_late(const Moment& moment) {
    const double now = moment.view.now();
    if (!drive_.enforces_limits || controller_.due().empty() ||
        controller_.due().begin()->first > moment.now || limit_clock_.first_from(now) > now) {
        return;
    }
    for (const auto& [date, job] : controller_.due()) {
        if (date > moment.now) {
            break;
        }
        controller_.end_late(moment, job);
    }
}

// Slices of time end at multiples of their length.
void Model::change_turns(const Moment& moment) {
    if (slice_ <= moment.view.now() && controller_.has_turns()) {
        controller_.change_turns(moment);
    }
}

// Jobs that come back again and again, as nodes do not boot, wait for a moment only.
void Model::give_up_if_stuck(const Moment& moment) {
    if (!controller_.queue().empty() && controller_.n_running() == 0 &&
        moment.view.now() - last_progress_ > patience &&
        controller_.all_eligible(moment.now + controller_.parameters().requeue_delay)) {
        controller_.give_up(moment);
    }
}

double Model::next_date(const Moment& moment) {
    const double now = moment.view.now();
    double next = infinity;
    slice_ = infinity;
    if (controller_.has_turns()) {
        const auto length = static_cast<double>(controller_.parameters().time_slice);
        slice_ = (std::floor(now / length) + 1) * length;
    }
    if (drive_.enforces_limits && drive_.mode != Drive::Mode::passes &&
        !controller_.due().empty()) {
        const auto& [date, job] = *controller_.due().begin();
        const double due = run_time(date);
        next = due > now ? due : limit_clock_.first_from(std::nextafter(now, infinity));
    }
    if (drive_.mode == Drive::Mode::passes) {
        return std::min(slice_, next_given_ < drive_.passes.size() ? drive_.passes[next_given_].time
                                                                   : infinity);
    }
    next = std::min({next, resume_, slice_});
    if (controller_.queue().empty()) {
        return next;
    }
    if (drive_.mode == Drive::Mode::bsc) {
        return std::min({next, step_, std::max(next_step_backfill(), std::floor(now) + 1)});
    }
    next = std::min({next, immediate_, postponed_, main_clock_.next().time});
    if (controller_.parameters().backfills && !backfill_.is_under_way()) {
        double due = backfill_clock_.next(run_time(controller_.last_update()));
        next = std::min(next, due > now ? due : now + 1.0);
    }
    return next;
}

void Model::arm(const Moment& moment) {
    double next = next_date(moment);
    for (const auto& other : {controller_.next_given_start(), controller_.next_power_change()}) {
        next = std::min(next, other ? run_time(*other) : infinity);
    }
    if (next == armed_ && next > moment.view.now()) {
        return;
    }
    armed_ = next;
    if (next == infinity) {
        moment.decisions.cancel_call(tag);
    } else {
        moment.decisions.call_at(std::max(next, moment.view.now()), tag);
    }
}

} // namespace noctule::slurm
