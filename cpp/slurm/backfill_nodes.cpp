// Which nodes backfilling may try for a job at a date, and where that is known to be in vain.
#include "slurm/backfill.hpp"

namespace noctule::slurm {

namespace {

bool asks_for_any_nodes(const Request& request) {
    return request.constraint == none && request.excluded.n_nodes() == 0;
}

} // namespace

// Whether counts of nodes stay true for the rest of the pass: no job makes way, nodes belong to
// nobody for a time, and nobody counts what tests cost.
bool Backfill::nodes_only_get_fewer() const {
    const CostModel& cost = controller_.parameters().cost;
    return cost.backfill_test <= 0 && cost.reservation_record <= 0 && !follows_predictions() &&
           !controller_.parameters().bf_licenses && !controller_.has_windows() &&
           !controller_.has_owners() && !evictions_.are_possible();
}

// The first date to try from one on at which it is not known that too few nodes could be used.
Seconds Backfill::first_promising(const Attempt& attempt, Seconds asked, Seconds earliest,
                                  Seconds duration) {
    const std::uint32_t partition = attempt.record.partition;
    const bool any_node_counts = space_.is_within(partition_nodes_);
    while (true) {
        const Seconds start = std::max(asked, earliest);
        if (start <= now_ && controller_.reasons().is_kept()) {
            return asked;
        }
        const Seconds end = std::max(start, now_) + duration;
        const Seconds later = any_node_counts ? space_.more_from(start, end)
                                              : space_.more_from(partition_nodes_, start, end);
        if (later == 0 || !known_.are_below(attempt.least, partition, start, duration, later)) {
            return asked;
        }
        if (start <= now_) {
            hold_until(space_.next_begin(now_ + duration) - duration);
        }
        asked = later;
    }
}

// Whether a job cannot start on `available_` by a date.
bool Backfill::are_too_few(const Attempt& attempt, Seconds start, Seconds latest) {
    const std::uint32_t most = controller_.select().most_by(attempt.on(available_), latest);
    if (most >= attempt.least) {
        return false;
    }
    if (asks_for_any_nodes(attempt.request)) {
        known_.note(most, attempt.record.partition, start, attempt.limit * 60, latest);
    }
    return true;
}

// Nodes that plans and windows leave to the job from a start on, into `available_`; the start,
// which windows may move, if they are enough.
std::optional<Seconds> Backfill::find_nodes(const Attempt& attempt, Seconds start, Seconds duration,
                                            Seconds& later) {
    const Request& request = attempt.request;
    if (attempt.record.reserved) {
        if (const std::optional<Seconds> begin = controller_.reservation_begin(attempt.job)) {
            start = std::max(start, *begin);
        }
    }
    partition_nodes_.assign_common(controller_.nodes().up, attempt.partition.nodes);
    const Seconds window_end =
        controller_.keep_usable(attempt.job, start, duration, partition_nodes_);
    controller_.keep_own(attempt.job, attempt.record.partition, partition_nodes_);
    const Seconds end = std::max(start, now_) + duration;
    later = space_.more_from(partition_nodes_, start, end);
    space_.usable(partition_nodes_, start, end, attempt.least, available_);
    note_nodes(attempt, start);
    worked_us_ += controller_.parameters().cost.reservation_record *
                  static_cast<double>(space_.stretches().size());
    if (window_end > 0 && (later == 0 || window_end < later)) {
        later = window_end;
    }
    if (request.constraint != none) {
        available_ &= controller_.settings().constraints[request.constraint];
    }
    if (request.excluded.n_nodes() > 0) {
        available_ -= request.excluded;
    }
    if (const Seconds until = lacks_licenses_until(attempt, start, end)) {
        later = std::max(later, until);
        return std::nullopt;
    }
    const bool many = available_.count() >= attempt.least;
    if (!many && counts_hold_ && asks_for_any_nodes(request)) {
        known_.note(attempt.least - 1, attempt.record.partition, start, duration, no_date);
    }
    const bool enough =
        many && (request.required.n_nodes() == 0 || available_.contains(request.required));
    // Further stretches take nodes away, or are the first to have more.
    if (start <= now_ && (enough || later == 0)) {
        hold_until(space_.next_begin(now_ + duration) - duration);
    }
    return enough ? std::optional(start) : std::nullopt;
}

// Notes what keeps a job from starting now, if anything will.
void Backfill::note_nodes(const Attempt& attempt, Seconds start) {
    if (!controller_.reasons().is_kept() || (start > now_ && !attempt.record.reserved)) {
        return;
    }
    const bool are_reserved = start > now_ || partition_nodes_.count() < attempt.least;
    const bool are_planned = available_.count() < partition_nodes_.count();
    controller_.reasons().note(attempt.job, are_reserved  ? Reason::reservation
                                            : are_planned ? Reason::priority
                                                          : Reason::resources);
}

} // namespace noctule::slurm
