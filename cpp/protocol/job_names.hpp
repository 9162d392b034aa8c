// The jobs of a workload by the names that messages have for them.
#pragma once

#include "types.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace noctule {

class JobNames {
  public:
    explicit JobNames(std::span<const std::string> names);

    std::size_t size() const { return ends_.size(); }
    std::string_view name(JobIndex job) const {
        const std::size_t first = job == 0 ? 0 : ends_[job - 1];
        return std::string_view(letters_).substr(first, ends_[job] - first);
    }

    // no_job if there is none of that name.
    JobIndex find(std::string_view name) const;

  private:
    std::size_t slot(std::string_view name) const;

    std::string letters_; // of all names
    std::vector<std::size_t> ends_;
    std::vector<JobIndex> slots_; // a table of a power of two, at most half full
};

} // namespace noctule
