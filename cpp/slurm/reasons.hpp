// Why schedulers did not start jobs: what the last pass of each kind thought of each, and when that
// changed. Kept only where somebody asks for it.
#pragma once

#include "slurm/requests.hpp"
#include "slurm/statistics.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace noctule::slurm {

enum class Reason : std::uint8_t {
    begin_time,
    held,
    dependency,
    array_throttle,
    partition,   // closed to all, or to jobs of this size and length
    limit,       // of an association or a QOS
    licenses,    // not enough are free
    reservation, // windows keep nodes
    priority,    // others come before it
    resources,   // nodes are busy
    not_tested,  // the pass ended before, or looks at so many jobs only
};

struct ReasonChange {
    double time;
    PassKind kind;
    Reason reason;
    std::uint32_t detail; // a text of the log
};

class ReasonLog {
  public:
    explicit ReasonLog(const Requests& requests) : requests_(requests), details_{""} {}

    void keep() { is_kept_ = true; }
    bool is_kept() const { return is_kept_; }

    // What the pass under way thinks of a job; of its partitions the last one counts. Tasks of an
    // array that wait together have one reason.
    void note(JobIndex job, Reason reason, std::string_view detail = "") {
        if (is_kept_) {
            enter(job, reason, detail);
        }
    }
    void end_pass(double time, PassKind kind);

    std::vector<ReasonChange> changes(JobIndex job) const;
    const std::string& text(std::uint32_t detail) const { return details_[detail]; }

  private:
    void enter(JobIndex job, Reason reason, std::string_view detail);
    struct Judgement {
        Reason reason;
        std::uint32_t detail;

        bool operator==(const Judgement&) const = default;
    };
    // The number under which a job is kept: of an array, one for all tasks.
    std::uint64_t key(JobIndex job) const {
        const std::uint32_t array = requests_[job].array;
        return array == none ? job : std::uint64_t{1} << 32 | array;
    }

    const Requests& requests_;
    bool is_kept_ = false;
    std::vector<std::string> details_;
    std::unordered_map<std::string, std::uint32_t> numbers_; // of details
    std::unordered_map<std::uint64_t, Judgement> in_pass_;
    std::unordered_map<std::uint64_t, std::vector<ReasonChange>> changes_;
};

} // namespace noctule::slurm
