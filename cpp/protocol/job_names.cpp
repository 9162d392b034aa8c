#include "protocol/job_names.hpp"

#include <bit>
#include <functional>

namespace noctule {

JobNames::JobNames(std::span<const std::string> names)
    : slots_(std::bit_ceil(2 * names.size() + 1), no_job) {
    ends_.reserve(names.size());
    for (const std::string& one : names) {
        letters_ += one;
        ends_.push_back(letters_.size());
        slots_[slot(one)] = static_cast<JobIndex>(ends_.size() - 1);
    }
}

JobIndex JobNames::find(std::string_view name) const { return slots_[slot(name)]; }

// Where a name is, or would be.
std::size_t JobNames::slot(std::string_view name) const {
    std::size_t at = std::hash<std::string_view>{}(name) & (slots_.size() - 1);
    while (slots_[at] != no_job && this->name(slots_[at]) != name) {
        at = (at + 1) & (slots_.size() - 1);
    }
    return at;
}

} // namespace noctule
