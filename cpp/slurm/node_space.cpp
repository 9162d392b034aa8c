#include "slurm/node_space.hpp"

#include <algorithm>
#include <utility>

namespace noctule::slurm {

void NodeSpace::reset(Seconds begin, Seconds end, const NodeSet& usable) {
    for (Stretch& stretch : stretches_) {
        spare_.push_back(std::move(stretch.usable));
    }
    stretches_.clear();
    stretches_.push_back({begin, end, usable});
    n_records_ = 1;
}

void NodeSpace::move_to(Seconds begin, Seconds end) {
    stretches_.front().begin = begin;
    stretches_.back().end = end;
}

Seconds NodeSpace::next_begin(Seconds date) const {
    const auto next = std::ranges::upper_bound(stretches_, date, {}, &Stretch::begin);
    return next == stretches_.end() ? no_date : next->begin;
}

void NodeSpace::split_at(Seconds date) {
    const auto found = std::ranges::upper_bound(stretches_, date, {}, &Stretch::end);
    if (found == stretches_.end() || found->begin >= date) {
        return;
    }
    NodeSet copy;
    if (!spare_.empty()) {
        copy = std::move(spare_.back());
        spare_.pop_back();
    }
    copy = found->usable;
    const Seconds begin = std::exchange(found->begin, date);
    stretches_.insert(found, {begin, date, std::move(copy), found->n_usable});
    ++n_records_;
}

void NodeSpace::reserve(Seconds begin, Seconds end, const NodeSet& nodes) {
    begin = std::max(begin, stretches_.front().begin);
    split_at(begin);
    split_at(end);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
        Stretch& stretch = stretches_[i];
        const bool changed = stretch.begin >= begin && stretch.end <= end;
        if (changed) {
            stretch.usable -= nodes;
            stretch.n_usable = none;
        }
        const bool at_border = changed || stretch.begin == end;
        if (at_border && kept > 0 && stretches_[kept - 1].usable == stretch.usable) {
            stretches_[kept - 1].end = stretch.end;
            spare_.push_back(std::move(stretch.usable));
        } else {
            if (kept != i) {
                stretches_[kept] = std::move(stretch);
            }
            ++kept;
        }
    }
    stretches_.erase(stretches_.begin() + static_cast<std::ptrdiff_t>(kept), stretches_.end());
}

bool NodeSpace::is_free(Seconds begin, Seconds end, const NodeSet& nodes) const {
    auto at = std::ranges::upper_bound(stretches_, begin, {}, &Stretch::end);
    for (; at != stretches_.end() && at->begin < end; ++at) {
        if (!at->usable.contains(nodes)) {
            return false;
        }
    }
    return true;
}

// Whether a stretch, of those from one on that begin by the end, has fewer nodes.
bool NodeSpace::has_fewer(std::vector<Stretch>::const_iterator from, Seconds end,
                          std::uint32_t least) const {
    for (; from != stretches_.end() && from->begin <= end; ++from) {
        if (from->count() < least) {
            return true;
        }
    }
    return false;
}

Seconds NodeSpace::usable(const NodeSet& among, Seconds start, Seconds end, std::uint32_t least,
                          NodeSet& usable) const {
    constexpr int often = 8;
    usable = among;
    Seconds later = 0;
    auto at = std::ranges::upper_bound(stretches_, start, {}, &Stretch::end);
    bool too_few = has_fewer(at, end, least);
    for (int n = 1; at != stretches_.end(); ++at, ++n) {
        // Slurm looks one stretch beyond the end for this.
        if (later == 0 && std::next(at) != stretches_.end() &&
            std::next(at)->usable.offers_beyond(usable, at->usable, among)) {
            later = at->end;
        }
        if (at->begin > end || (too_few && later > 0)) {
            break;
        }
        usable &= at->usable;
        too_few = too_few || (n % often == 0 && usable.count() < least);
    }
    if (too_few) {
        usable.clear();
    }
    return later;
}

} // namespace noctule::slurm
