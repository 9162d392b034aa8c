#include "slurm/node_space.hpp"

#include <algorithm>
#include <utility>

namespace noctule::slurm {

void NodeSpace::reset(Seconds begin, Seconds end, const NodeSet& usable) {
    if (sets_.empty()) {
        sets_.emplace_back();
    }
    sets_.front() = all_ = usable;
    unused_.clear();
    for (auto place = static_cast<std::uint32_t>(sets_.size()); place-- > 1;) {
        unused_.push_back(place);
    }
    stretches_.assign(1, {begin, end, 0, usable.count()});
    n_records_ = 1;
    has_empty_record_ = false;
}

void NodeSpace::move_to(Seconds begin, Seconds end) {
    stretches_.front().begin = begin;
    stretches_.back().end = end;
}

NodeSpace::Iterator NodeSpace::first_after(Seconds date) const {
    const auto is_first = [&](std::size_t i) {
        return i < stretches_.size() && stretches_[i].end > date &&
               (i == 0 || stretches_[i - 1].end <= date);
    };
    for (const std::size_t i : {last_place_, last_place_ + 1}) {
        if (is_first(i)) {
            last_place_ = i;
            return stretches_.begin() + static_cast<std::ptrdiff_t>(i);
        }
    }
    const auto found = std::ranges::upper_bound(stretches_, date, {}, &Stretch::end);
    last_place_ = static_cast<std::size_t>(found - stretches_.begin());
    return found;
}

Seconds NodeSpace::next_begin(Seconds date) const {
    const auto next = std::ranges::upper_bound(stretches_, date, {}, &Stretch::begin);
    return next == stretches_.end() ? no_date : next->begin;
}

std::uint32_t NodeSpace::copy_of(std::uint32_t place) {
    if (unused_.empty()) {
        unused_.push_back(static_cast<std::uint32_t>(sets_.size()));
        sets_.emplace_back();
    }
    const std::uint32_t copy = unused_.back();
    unused_.pop_back();
    sets_[copy] = sets_[place];
    return copy;
}

void NodeSpace::split_at(Seconds date) {
    const auto found = stretches_.begin() + (first_after(date) - stretches_.cbegin());
    if (found == stretches_.end() || found->begin >= date) {
        return;
    }
    const Stretch before{found->begin, date, copy_of(found->place), found->n_usable};
    found->begin = date;
    stretches_.insert(found, before);
    ++n_records_;
}

// `taken_` is about to leave the next stretch, but not this one.
void NodeSpace::take_before(Stretch& stretch, const Stretch& next) {
    const auto here = nodes(stretch).words();
    const auto there = nodes(next).words();
    for (const SparseNodes::Part& part : taken_.parts()) {
        const std::uint64_t gone = there[part.word] & part.bits;
        stretch.n_more -= count_bits(gone & ~here[part.word]);
        stretch.n_fewer += count_bits(gone & here[part.word]);
    }
}

// `taken_` leaves a stretch, and is about to leave the next one, or stays there.
void NodeSpace::take(Stretch& stretch, const Stretch* next, bool next_changes) {
    NodeSet& set = sets_[stretch.place];
    for (const SparseNodes::Part& part : taken_.parts()) {
        const std::uint64_t here = set.words()[part.word] & part.bits;
        if (next != nullptr) {
            const std::uint64_t there = nodes(*next).words()[part.word] & part.bits;
            if (const std::uint64_t fewer = here & ~there; fewer != 0) {
                stretch.n_fewer -= count_bits(fewer);
            }
            if (!next_changes) {
                stretch.n_more += count_bits(here & there);
            } else if (const std::uint64_t more = there & ~here; more != 0) {
                stretch.n_more -= count_bits(more);
            }
        }
        stretch.n_usable -= here == part.bits ? part.count : count_bits(here);
        set.remove_word(part.word, here);
    }
}

// Makes one of the first two neighbours that are equal, of those from first to last; not more, as
// in Slurm's table.
void NodeSpace::merge(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
        Stretch& before = stretches_[i];
        if (before.n_more == 0 && before.n_fewer == 0) {
            const Stretch& after = stretches_[i + 1];
            unused_.push_back(after.place);
            before.end = after.end;
            before.n_more = after.n_more;
            before.n_fewer = after.n_fewer;
            stretches_.erase(stretches_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            return;
        }
    }
}

void NodeSpace::reserve(Seconds begin, Seconds end, const NodeSet& nodes) {
    begin = std::max(begin, stretches_.front().begin);
    if (begin == stretches_.front().begin && !std::exchange(has_empty_record_, true)) {
        ++n_records_; // of no length, before the first
    }
    split_at(begin);
    split_at(end);
    const auto first = static_cast<std::size_t>(first_after(begin) - stretches_.cbegin());
    const auto last = static_cast<std::size_t>(first_after(end) - stretches_.cbegin());
    if (first == last) {
        return; // all of it is beyond the plan
    }
    taken_.assign(nodes);
    if (first > 0) {
        take_before(stretches_[first - 1], stretches_[first]);
    }
    for (std::size_t i = first; i < last; ++i) {
        const bool is_last = i + 1 == stretches_.size();
        take(stretches_[i], is_last ? nullptr : &stretches_[i + 1], i + 1 < last);
    }
    merge(first > 1 ? first - 2 : 0, std::min(last, stretches_.size() - 1));
}

bool NodeSpace::is_free(Seconds begin, Seconds end, const NodeSet& nodes) const {
    const SparseNodes sparse(nodes);
    for (auto at = first_after(begin); at != stretches_.end() && at->begin < end; ++at) {
        if (!sparse.are_in(this->nodes(*at))) {
            return false;
        }
    }
    return true;
}

void NodeSpace::usable(const NodeSet& among, Seconds start, Seconds end, std::uint32_t least,
                       NodeSet& usable) const {
    constexpr int often = 8;
    usable = among;
    int n = 0;
    bool loses = true; // nodes, compared with the stretch before
    for (auto at = first_after(start); at != stretches_.end() && at->begin <= end; ++at) {
        if (loses) {
            usable &= nodes(*at);
            ++n;
        }
        if (at->n_usable < least || (loses && n % often == 0 && usable.count() < least)) {
            usable.clear();
            return;
        }
        loses = at->n_fewer > 0;
    }
}

template <typename Counts>
Seconds NodeSpace::first_more(Seconds start, Seconds end, Counts counts) const {
    auto at = first_after(start);
    for (; at != stretches_.end() && std::next(at) != stretches_.end(); ++at) {
        // Before that each stretch has nodes of the one before only.
        if (at->n_more > 0 && counts(*at, *std::next(at))) {
            return at->end;
        }
        if (at->begin > end) {
            break;
        }
    }
    return 0;
}

Seconds NodeSpace::more_from(const NodeSet& among, Seconds start, Seconds end) const {
    return first_more(start, end, [&](const Stretch& stretch, const Stretch& next) {
        return nodes(next).offers_beyond(nodes(stretch), among);
    });
}

Seconds NodeSpace::more_from(Seconds start, Seconds end) const {
    return first_more(start, end, [](const Stretch&, const Stretch&) { return true; });
}

} // namespace noctule::slurm
