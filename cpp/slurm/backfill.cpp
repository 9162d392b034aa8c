#include "slurm/backfill.hpp"

#include <algorithm>
#include <utility>

namespace noctule::slurm {

std::optional<double> Backfill::begin(const Moment& moment, double time) {
    const bool repeats = repeats_itself(moment);
    now_ = pass_now_ = moment.now;
    begun_ = time;
    known_.clear();
    n_queued_ = static_cast<std::uint32_t>(controller_.queue().n_jobs());
    if (!repeats) {
        plan_afresh();
        return walk(moment, time);
    }
    space_.move_to(round_down(now_), round_down(now_ + controller_.parameters().bf_window * 60));
    if (reached_end_) {
        return walk(moment, time); // over jobs that have come since
    }
    finish(moment, time);
    return std::nullopt;
}

bool Backfill::repeats_itself(const Moment& moment) const {
    return !under_way_ && moment.now < holds_until_ && controller_.n_changes() == changes_seen_;
}

void Backfill::plan_afresh() {
    const Parameters& parameters = controller_.parameters();
    next_ = 0;
    n_looked_at_ = n_tested_ = n_started_ = 0;
    counts_.clear();
    n_reserved_.clear();
    planned_.clear();
    planned_nodes_ = NodeSet(controller_.settings().n_nodes());
    moves_plans_ = false;
    evictions_.begin_pass();
    under_way_ = true;
    worked_us_ = parameters.cost.backfill_pass;
    space_.reset(round_down(now_), round_down(now_ + parameters.bf_window * 60),
                 controller_.nodes().up);
    const bool reserves = parameters.bf_running_job_reserve || parameters.bf_licenses;
    const bool dates_are_noted = !reserves && controller_.select().predicts_ends() &&
                                 controller_.limits().are_none() && !controller_.has_windows() &&
                                 !controller_.priority().follows_tests() && het_jobs_.empty() &&
                                 !evictions_.are_possible();
    holds_until_ = dates_are_noted ? no_date : now_;
    counts_hold_ = nodes_only_get_fewer();
    changes_seen_ = controller_.n_changes();
    if (reserves) {
        reserve_for_running();
    }
    plan_licenses();
    het_jobs_.begin_pass();
}

std::optional<double> Backfill::resume(const Moment& moment, double time) {
    now_ = moment.now;
    known_.clear();
    if (!controller_.parameters().bf_continue && controller_.last_update() > update_seen_) {
        ++controller_.statistics.n_abandoned;
        finish(moment, time);
        return std::nullopt;
    }
    // Records have come and gone meanwhile: on with the one that was next.
    next_ = controller_.queue().first_from(*last_);
    return walk(moment, time);
}

void Backfill::finish(const Moment& moment, double time) {
    start_groups(moment);
    under_way_ = false;
    reached_end_ = next_ >= controller_.queue().records().size();
    controller_.reasons().end_pass(begun_, PassKind::backfill);
    controller_.queue().compact();
    if (reached_end_) {
        next_ = controller_.queue().records().size();
    }
    // Idle nodes are told that they are planned, and before that those of the last pass that they
    // are not: that is a change.
    const bool were_told = !told_nodes_.empty();
    told_nodes_ = planned_nodes_ & controller_.select().idle();
    if (moves_plans_ || were_told || !told_nodes_.empty()) {
        controller_.touch_plans(now_);
    }
    controller_.statistics.add({begun_, PassKind::backfill, n_queued_, n_tested_, n_started_,
                                time - begun_ + worked_us_ * 1e-6});
}

std::string_view Backfill::why_over(double time) const {
    const Parameters& parameters = controller_.parameters();
    if (time - begun_ + worked_us_ * 1e-6 >= parameters.bf_max_time) {
        return "bf_max_time";
    }
    if (n_tested_ >= parameters.bf_max_job_test) {
        return "bf_max_job_test";
    }
    if (parameters.bf_max_job_start > 0 && n_started_ >= parameters.bf_max_job_start) {
        return "bf_max_job_start";
    }
    return "";
}

std::optional<double> Backfill::walk(const Moment& moment, double time) {
    const Parameters& parameters = controller_.parameters();
    for (; next_ < controller_.queue().records().size(); ++next_) {
        const QueueRecord& record = controller_.queue().records()[next_];
        note_conditions(record);
        if (!record.live || controller_.status(record.job).submitted > pass_now_ ||
            !controller_.is_queued(moment, record)) {
            controller_.note_unqueued(moment, record);
            continue;
        }
        std::string_view over = why_over(time);
        if (parameters.bf_queue_limit > 0 && n_looked_at_ >= parameters.bf_queue_limit) {
            over = "bf_queue_limit";
        }
        if (!over.empty()) {
            controller_.note_rest(moment, next_, Reason::not_tested, over);
            break;
        }
        if (worked_us_ > parameters.bf_yield_interval_us) {
            const double away = (worked_us_ + parameters.bf_yield_sleep_us) * 1e-6;
            ++controller_.statistics.n_yields;
            worked_us_ = 0.0;
            hold_until(now_);
            last_ = record;
            update_seen_ = std::max(controller_.last_update(), moment.now);
            return away;
        }
        ++n_looked_at_;
        if (!look_at(moment, record)) {
            controller_.note_rest(moment, next_ + 1, Reason::not_tested, "bf_node_space_size");
            break;
        }
    }
    finish(moment, time);
    return std::nullopt;
}

// Dates from which on a record may be treated otherwise.
void Backfill::note_conditions(const QueueRecord& record) {
    const JobStatus& status = controller_.status(record.job);
    if (!status.independent || record.reserved || controller_.request(record.job).one_switch ||
        controller_.request(record.job).deadline != no_date) {
        hold_until(now_);
    }
    hold_until_later(status.submitted);
    hold_until_later(status.eligible);
    hold_until_later(status.eligible + controller_.parameters().bf_min_age_reserve);
}

void Backfill::hold_until_reached(Seconds date) {
    const Parameters& parameters = controller_.parameters();
    if (date >= space_.stretches().back().end) {
        hold_until(round_down(date) + parameters.bf_resolution - parameters.bf_window * 60);
    }
}

// Whether enough jobs were tried of its user, partition or association; if not, it is counted.
bool Backfill::counts_exceeded(const QueueRecord& record) {
    const Parameters& parameters = controller_.parameters();
    const Request& request = controller_.request(record.job);
    enum What : std::uint64_t { part, user, user_part, assoc };
    const auto key = [](What what, std::uint64_t number) {
        return std::uint64_t{what} << 60 | number;
    };
    const bool by_user = parameters.bf_max_job_assoc == 0;
    const bool by_assoc = request.association != none;
    const std::pair<std::uint64_t, std::uint32_t> bounds[] = {
        {key(user_part, std::uint64_t{request.user} << 24 | record.partition),
         parameters.bf_max_job_user_part},
        {key(part, record.partition), parameters.bf_max_job_part},
        {key(assoc, request.association), by_assoc ? parameters.bf_max_job_assoc : 0},
        {key(user, request.user), by_user ? parameters.bf_max_job_user : 0},
    };
    for (const auto& [counted, most] : bounds) {
        if (most > 0 && counts_[counted] >= most) {
            return true;
        }
    }
    for (const auto& [counted, most] : bounds) {
        if (most > 0) {
            ++counts_[counted];
        }
    }
    return false;
}

bool Backfill::plans_nothing(const Moment& moment, const QueueRecord& record) const {
    const Parameters& parameters = controller_.parameters();
    const JobStatus& status = controller_.status(record.job);
    const auto reserved = n_reserved_.find(record.partition);
    return record.priority < parameters.bf_min_prio_reserve ||
           moment.now - status.eligible < parameters.bf_min_age_reserve ||
           (parameters.bf_one_resv_per_job &&
            std::ranges::find(planned_, record.job) != planned_.end()) ||
           (parameters.bf_job_part_count_reserve > 0 && reserved != n_reserved_.end() &&
            reserved->second >= parameters.bf_job_part_count_reserve) ||
           controller_.limits().plans_nothing(record.job, record.priority);
}

// Tries a record, all tasks of it that may be planned; false if the pass ends there.
bool Backfill::look_at(const Moment& moment, const QueueRecord& record) {
    const Parameters& parameters = controller_.parameters();
    std::size_t task = 0;
    std::uint32_t n_planned = 0;
    while (record.live && task < controller_.queue().n_tasks(record.job)) {
        const JobIndex job = controller_.queue().task(record.job, task);
        const Request& request = controller_.request(job);
        if (controller_.cancel_late(moment, job)) {
            continue;
        }
        if ((task == 0 && !controller_.is_queued(moment, record)) ||
            !may_be_tried(moment, record, job)) {
            return true;
        }
        const auto [least, wanted] = controller_.node_bounds(job, record.partition);
        if (wanted < least) {
            return true;
        }
        Minutes limit = controller_.time_limit(job, record.partition);
        if (request.time_min > 0) {
            limit = std::min(limit, request.time_min);
        }
        const Attempt attempt{record,  job,
                              request, controller_.partition(record.partition),
                              limit,   plans_nothing(moment, record),
                              least,   wanted};
        const Outcome outcome = try_job(moment, attempt);
        if (outcome == Outcome::table_full) {
            return false;
        }
        if (outcome == Outcome::started) {
            if (!may_start_more()) {
                return true;
            }
            continue; // with the next task, which has become the first
        }
        if (outcome == Outcome::unplanned || ++n_planned >= parameters.bf_max_job_array_resv) {
            return true;
        }
        ++task;
    }
    return true;
}

// Whether a task is tried, as far as that does not depend on nodes.
bool Backfill::may_be_tried(const Moment& moment, const QueueRecord& record, JobIndex task) {
    if (!controller_.limits().allows(task, record.partition, moment.now)) {
        controller_.note_limit(task);
        return false;
    }
    if (counts_exceeded(record)) {
        controller_.reasons().note(task, Reason::not_tested, "bf_max_job_part, _user or _assoc");
        return false;
    }
    if (!controller_.parameters().bf_licenses &&
        !controller_.has_licenses(controller_.request(task))) {
        controller_.note_licenses(task);
        return false;
    }
    return true;
}

Backfill::Outcome Backfill::try_job(const Moment& moment, const Attempt& attempt) {
    const Parameters& parameters = controller_.parameters();
    bool tested = false;
    const Seconds duration = attempt.limit * 60;
    Seconds later = now_;
    partition_nodes_.assign_common(controller_.nodes().up, attempt.partition.nodes);
    if (evictions_.are_under_way_for(attempt.job)) {
        return Outcome::unplanned;
    }
    evictions_.look(attempt.record, attempt.job, now_);
    bool looks_up = counts_hold_ && !attempt.no_reserve && !attempt.record.reserved &&
                    attempt.partition.oversubscribe <= Oversubscribe::exclusive;
    bool passed_over = false;
    while (true) {
        Seconds asked = std::exchange(later, 0);
        const Seconds earliest = het_jobs_.earliest(attempt.job);
        if (looks_up) {
            const Seconds first = asked;
            asked = first_promising(attempt, first, earliest, duration);
            passed_over |= asked > first;
        }
        const std::optional<Seconds> from =
            find_nodes(attempt, std::max(asked, earliest), duration, later);
        const bool tries_later = later > asked && !attempt.no_reserve;
        if (!from && tries_later) {
            continue;
        }
        if (!from && !tested && passed_over) { // whether it counts as tested is still to be seen
            looks_up = passed_over = false;
            later = now_;
            continue;
        }
        if (!from) {
            return Outcome::unplanned;
        }
        if (!std::exchange(tested, true)) {
            ++n_tested_;
        }
        // Of a start after the next date to try nobody wants to know more, unless that is counted.
        const Seconds latest = tries_later && !follows_predictions() ? later : no_date;
        if (counts_hold_ && latest != no_date && are_too_few(attempt, *from, latest)) {
            continue;
        }
        const std::optional<Prediction> found = controller_.select().will_run(
            evictions_.named(attempt.on(available_, latest)), now_, attempt.no_reserve);
        worked_us_ += parameters.cost.backfill_test +
                      parameters.cost.prediction_step *
                          static_cast<double>(controller_.select().take_prediction_steps());
        if (!found || controller_.waits_for_switch(attempt.job, found->nodes, now_)) {
            if (tries_later) {
                continue;
            }
            return Outcome::unplanned;
        }
        note_test(attempt.job, found->nodes);
        hold_until_later(found->start);
        Seconds start = std::max(found->start, *from);
        moves_plans_ |= *from > found->start;
        if (start <= now_ && (found->nodes.intersects(controller_.nodes().completing) ||
                              found->nodes.intersects(controller_.nodes().booting))) {
            start = now_ + 1;
            hold_until(now_);
            later = 0;
        }
        if (attempt.request.het != none) {
            het_jobs_.note(attempt.job, attempt.record.partition, start);
            if (parameters.bf_hetjob_immediate && may_start_more() &&
                start_group(moment, attempt.request.het)) {
                return Outcome::started;
            }
        } else if (start <= now_) {
            const Start outcome = start_now(moment, attempt);
            if (outcome == Start::done) {
                return Outcome::started;
            }
            if (outcome == Start::over_limit && !parameters.assoc_limit_stop) {
                return Outcome::unplanned; // nobody knows when it may start
            }
            later = 0;
            hold_until(now_);
        }
        if (attempt.no_reserve && start > now_) {
            controller_.plan(attempt.job, start);
            return Outcome::unplanned;
        }
        if (later > 0 && start > later) {
            continue;
        }
        if (start > pass_now_ + parameters.bf_window * 60) {
            hold_until(start - parameters.bf_window * 60);
            planned_.push_back(attempt.job);
            return Outcome::unplanned;
        }
        hold_until_reached(round_down(start));
        if (start > now_ &&
            (!space_.is_free(round_down(start), round_down(start + duration), found->nodes) ||
             lacks_licenses_until(attempt, round_down(start), round_down(start + duration) - 1) >
                 0)) {
            if (start <= asked) {
                return Outcome::unplanned;
            }
            later = start;
            hold_until_reached(start);
            continue;
        }
        if (!parameters.assoc_limit_stop && is_over_limit(moment, attempt, found->nodes)) {
            return Outcome::unplanned;
        }
        return reserve(attempt, start, found->nodes);
    }
}

bool Backfill::follows_predictions() const {
    return controller_.parameters().cost.prediction_step > 0 ||
           controller_.priority().follows_tests();
}

Backfill::Start Backfill::start_now(const Moment& moment, const Attempt& attempt) {
    if (attempt.job != attempt.record.job || !controller_.has_licenses(attempt.request)) {
        return Start::busy;
    }
    std::optional<Choice> choice = controller_.run_now(attempt.on(available_));
    if (choice && controller_.waits_for_switch(attempt.job, choice->nodes, now_)) {
        choice.reset();
    }
    if (!choice && evictions_.are_possible()) {
        choice = evictions_.make_room(moment, attempt.record, attempt.on(available_));
    }
    if (!choice) {
        return Start::busy;
    }
    if (!controller_.limits().allows(attempt.job, attempt.record.partition, *choice, moment.now)) {
        controller_.note_limit(attempt.job);
        return Start::over_limit;
    }
    const JobIndex job = attempt.job;
    const Seconds end = now_ + attempt.limit * 60;
    controller_.start(moment, attempt.record, *choice, attempt.limit, StartedBy::backfill);
    ++n_started_;
    if (attempt.request.time_min > 0) {
        extend_limit(job, now_);
    }
    if (choice->whole_nodes && !table_is_full()) {
        space_.reserve(
            round_down(now_),
            std::max(round_down(end), round_down(now_) + controller_.parameters().bf_resolution),
            choice->nodes);
    }
    if (controller_.parameters().bf_licenses) {
        licenses_.take(attempt.request, round_down(now_), round_down(end));
    }
    return Start::done;
}

// Gives a job that was started with the least time it accepts as much as plans allow.
void Backfill::extend_limit(JobIndex job, Seconds now) {
    const Request& request = controller_.request(job);
    Minutes limit = controller_.time_limit(job, controller_.status(job).partition);
    const NodeSet& nodes = controller_.nodes_held(job);
    for (const NodeSpace::Stretch& stretch : space_.stretches()) {
        if (stretch.begin > now && !space_.nodes(stretch).contains(nodes)) {
            limit = std::min(limit, (stretch.begin - now) / 60);
            break;
        }
    }
    controller_.set_limit(job, std::max(limit, request.time_min));
}

void Backfill::note_test(JobIndex job, const NodeSet& nodes) {
    if (controller_.priority().follows_tests()) {
        controller_.priority().tested(job, cpus_of(nodes));
    }
}

void Backfill::reserve_for_running() {
    controller_.for_each_whole([&](JobIndex job, const NodeSet& nodes) {
        const Seconds end = round_down(controller_.expected_end(job));
        if (end > round_down(now_)) {
            space_.reserve(round_down(now_), end, nodes);
        }
    });
}

bool Backfill::table_is_full() const {
    const Parameters& parameters = controller_.parameters();
    const std::uint32_t size = parameters.bf_node_space_size > 0 ? parameters.bf_node_space_size
                                                                 : parameters.bf_max_job_test;
    return space_.n_records() >= size;
}

Backfill::Outcome Backfill::reserve(const Attempt& attempt, Seconds start, const NodeSet& nodes) {
    const Parameters& parameters = controller_.parameters();
    controller_.plan(attempt.job, start);
    if (table_is_full()) {
        return Outcome::table_full;
    }
    const Seconds begin = round_down(start);
    const Seconds end = round_down(start + attempt.limit * 60);
    const Seconds least_end =
        std::max(begin, space_.stretches().front().begin) + parameters.bf_resolution;
    hold_until_later(begin);
    hold_until_reached(std::max(end, least_end));
    space_.reserve(begin, std::max(end, least_end), nodes);
    if (parameters.bf_licenses) {
        licenses_.take(attempt.request, begin, std::max(end, least_end));
    }
    ++n_reserved_[attempt.record.partition];
    planned_.push_back(attempt.job);
    planned_nodes_ |= nodes;
    return Outcome::planned;
}

} // namespace noctule::slurm
