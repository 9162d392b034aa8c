#include "slurm/license_plan.hpp"

#include <algorithm>

namespace noctule::slurm {

void LicensePlan::reset(Seconds begin, Seconds end, std::span<const License> licenses) {
    stretches_.assign(1, {begin, end, {}});
    for (const License& license : licenses) {
        stretches_.front().left.push_back(license.total);
    }
}

void LicensePlan::split_at(Seconds date) {
    const auto found = std::ranges::upper_bound(stretches_, date, {}, &Stretch::end);
    if (found != stretches_.end() && found->begin < date) {
        Stretch first = *found;
        first.end = found->begin = date;
        stretches_.insert(found, std::move(first));
    }
}

void LicensePlan::take(const Request& request, Seconds begin, Seconds end) {
    begin = std::max(begin, stretches_.front().begin);
    if (request.licenses.empty() || end <= begin) {
        return;
    }
    split_at(begin);
    split_at(end);
    for (Stretch& stretch : stretches_) {
        if (stretch.begin >= begin && stretch.end <= end) {
            for (const LicenseRequest& asked : request.licenses) {
                std::uint32_t& left = stretch.left[asked.license];
                left -= std::min(left, asked.count);
            }
        }
    }
}

std::optional<LicensePlan::Lack> LicensePlan::lack(const Request& request, Seconds start,
                                                   Seconds end) const {
    std::optional<Lack> found;
    if (request.licenses.empty()) {
        return found;
    }
    for (const Stretch& stretch : stretches_) {
        if (stretch.end <= start || stretch.begin > end) {
            continue;
        }
        for (const LicenseRequest& asked : request.licenses) {
            if (stretch.left[asked.license] < asked.count) {
                found = {asked.license, stretch.end};
            }
        }
    }
    return found;
}

} // namespace noctule::slurm
