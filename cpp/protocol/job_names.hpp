// The names that messages have for the jobs of a workload.
#pragma once

#include "types.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace noctule {

class JobNames {
  public:
    explicit JobNames(std::span<const std::string> names) {
        ends_.reserve(names.size());
        for (const std::string& one : names) {
            letters_ += one;
            ends_.push_back(letters_.size());
        }
    }

    std::size_t size() const { return ends_.size(); }
    std::string_view operator[](JobIndex job) const {
        const std::size_t first = job == 0 ? 0 : ends_[job - 1];
        return {letters_.data() + first, ends_[job] - first};
    }

  private:
    std::string letters_; // of all of them
    std::vector<std::size_t> ends_;
};

} // namespace noctule
