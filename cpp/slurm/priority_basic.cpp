// priority/basic: the first job gets 2^32 - 65537, each later submission one less.
#include "slurm/priority.hpp"

#include <algorithm>

namespace noctule::slurm {

namespace {

constexpr std::uint32_t first_priority = 4294901759;

class Basic final : public Priority {
  public:
    explicit Basic(const Requests& requests) : requests_(requests) {}

    void submit(JobIndex job, Seconds) override {
        if (job >= priorities_.size()) {
            priorities_.resize(std::max(requests_.size(), std::size_t{job} + 1), 0);
        }
        priorities_[job] = number(job);
    }

    std::uint32_t of(JobIndex job, std::size_t) const override { return priorities_[job]; }
    bool follows_tests() const override { return false; }

  private:
    std::uint32_t number(JobIndex job) {
        const Request& request = requests_[job];
        if (request.priority > 0) {
            return request.priority;
        }
        // The tasks of an array are one submission.
        if (request.array == none || request.array != last_array_) {
            last_array_ = request.array;
            current_ = next_;
            next_ -= next_ > 1 ? 1 : 0;
        }
        const std::int64_t asked = static_cast<std::int64_t>(current_) - request.nice;
        return static_cast<std::uint32_t>(
            std::clamp<std::int64_t>(asked, 1, std::numeric_limits<std::uint32_t>::max()));
    }

    const Requests& requests_;
    std::vector<std::uint32_t> priorities_;
    std::uint32_t next_ = first_priority;
    std::uint32_t current_ = first_priority;
    std::uint32_t last_array_ = none;
};

} // namespace

std::unique_ptr<Priority> make_priority_basic(const Requests& requests) {
    return std::make_unique<Basic>(requests);
}

} // namespace noctule::slurm
