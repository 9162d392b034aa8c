// priority/multifactor: age, association, fair share, size, partition, QOS and TRES, each from 0
// to 1 times a weight. Without an accounting database nothing ages and nothing is shared: what a
// job had at its submission stays.
#pragma once

#include "slurm/priority.hpp"
#include "slurm/tres.hpp"
#include "slurm/usage.hpp"

#include <map>

namespace noctule::slurm {

// What a priority is made of, weighted.
struct PriorityParts {
    double age = 0;
    double association = 0;
    double fair_share = 0;
    double size = 0;
    double partition = 0;
    double qos = 0;
    double tres = 0;
    double nice = 0; // to be subtracted

    double sum() const {
        return age + association + fair_share + size + partition + qos + tres - nice;
    }
};

class Multifactor final : public Priority {
  public:
    // Both must outlive it.
    Multifactor(const Settings& settings, const Requests& requests);

    void submit(JobIndex job, Seconds now) override;
    std::uint32_t of(JobIndex job, std::size_t partition_position) const override;
    void become_eligible(JobIndex job, Seconds now) override;
    void tested(JobIndex job, std::uint32_t cpus) override;
    // Where nodes are shared, tests find the CPUs that were asked for.
    bool follows_tests() const override {
        return shares_usage() && settings_.parameters.select.type == SelectType::linear;
    }
    void start(JobIndex job, Seconds now, const Choice& choice) override;
    void end(JobIndex job, Seconds now) override;

    std::optional<double> next_recomputation() const override;
    bool recompute(double now) override;

    PriorityParts parts(JobIndex job, std::size_t partition_position, Seconds now) const;
    double fair_share(std::uint32_t association) const { return fair_share_[association]; }
    const UsageBook& usage() const { return usage_; }

  private:
    struct Pending {
        Seconds submitted;
        std::optional<Seconds> eligible = {};
        std::optional<Seconds> ages_since = {};
        std::uint32_t tested_cpus = 0;
        std::vector<std::uint32_t> priorities = {}; // by partition asked for
    };
    struct Running {
        Seconds start;
        Tres tres;
    };

    bool shares_usage() const { return accounting_.has_database; }
    double size_factor(const Request& request, std::uint32_t tested_cpus) const;
    double tres_part(const Request& request) const;
    bool set_priorities(JobIndex job, Pending& pending, Seconds now, bool at_submission);
    void count_usage(JobIndex job, const Running& running, Seconds from, Seconds to);
    void share_fairly();
    void let_age(Seconds now);
    void skip_idle_calculations(Seconds now);

    const Settings& settings_;
    const Requests& requests_;
    const Accounting& accounting_;
    const PriorityParameters& parameters_;
    bool bounds_aging_;
    std::uint64_t n_cpus_ = 0;
    std::uint32_t max_job_factor_ = 1;
    std::uint32_t max_qos_priority_ = 1;
    std::uint32_t max_association_priority_ = 1;
    std::vector<Tres> partition_tres_;

    UsageBook usage_;
    std::vector<double> fair_share_; // by association
    std::map<JobIndex, Pending> pending_;
    std::map<JobIndex, Running> running_;
    double next_;
    Seconds last_; // calculation
    Seconds next_reset_;
    bool has_new_usage_ = false;
};

// The date at which usage becomes 0 next; the largest date if it never does.
Seconds next_usage_reset(UsageReset period, Seconds last);

} // namespace noctule::slurm
