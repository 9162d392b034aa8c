// How the jobs of a workload are told to a decision component of Batsim 5.
#pragma once

#include "protocol/scheduler_shortcut.hpp"

namespace noctule {

// Whether a text stands in JSON as it is.
bool is_plain_text(std::string_view text);

class EdcJobTexts : public JobTexts {
  public:
    struct Fields {
        std::uint32_t n_hosts;
        double walltime;           // NaN: none
        double submit_time;        // NaN: when it happens
        std::string_view workload; // of its profile
        std::string_view profile;  // its name in there
    };

    explicit EdcJobTexts(std::shared_ptr<const JobNames> names)
        : names_(std::move(names)), jobs_(names_->size()) {}
    void add(JobIndex job, const Fields& fields);

    std::uint32_t n_hosts(JobIndex job) const override { return jobs_[job].n_hosts; }
    void append(TextBuffer& text, JobIndex job, const WrittenDate& date) const override;

  private:
    struct Entry {
        double walltime = not_a_time;
        double submit_time = not_a_time;
        std::size_t profile = 0; // where its name begins
        std::uint32_t profile_size = 0;
        std::uint32_t n_hosts = 0;
    };

    std::shared_ptr<const JobNames> names_;
    std::vector<Entry> jobs_;
    std::string profiles_;
};

} // namespace noctule
