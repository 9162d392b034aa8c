// Limits of QOS and associations, and which of them holds a job back.
//
// The partition's QOS comes first, then the job's (the other way round with OverPartQOS), then the
// association and the accounts above it. What a QOS bounds, nothing after it bounds again. Maxima
// of an association are those of the nearest account above it where it has none; group limits
// count at each level.
#pragma once

#include "slurm/limit_check.hpp"
#include "slurm/limit_counts.hpp"
#include "slurm/limits.hpp"
#include "slurm/multifactor.hpp"

#include <map>
#include <optional>

namespace noctule::slurm {

class AccountLimits final : public Limits {
  public:
    // All must outlive it. Without multifactor nothing is used up, and nobody has a fair share.
    AccountLimits(const Settings& settings, const Requests& requests,
                  const Multifactor* multifactor);

    bool are_none() const override { return false; }
    bool may_submit(JobIndex job, Seconds now) override;
    bool allows(JobIndex job, std::uint32_t partition, Seconds now) override;
    bool allows(JobIndex job, std::uint32_t partition, const Choice& choice, Seconds now) override;
    bool allows_request(JobIndex job, std::uint32_t partition, Seconds now) override;
    std::uint32_t max_nodes(JobIndex job, std::uint32_t partition) const override;
    bool plans_nothing(JobIndex job, std::uint32_t priority) const override;

    void submit(JobIndex job, Seconds now) override;
    void start(JobIndex job, std::uint32_t partition, const Choice& choice, Seconds now) override;
    void end(JobIndex job, Seconds now) override;

    const BlockingLimit* blocked_by(JobIndex job) const override;

  private:
    struct Running {
        Tres tres;
        double minutes;
        Seconds start;
    };
    // A job that is checked in a partition; of its TRES, what it asks for or would get.
    struct Case {
        const Request& request;
        LimitCounts::Owner owner;
        Tres tres;
        double minutes;
        Seconds now;
    };

    LimitCounts::Owner owner(const Request& request, std::uint32_t partition) const;
    double counted_minutes(const Request& request) const;
    Case make_case(JobIndex job, std::uint32_t partition, Seconds now) const;
    // TRES minutes that running jobs may still use, of an association or a QOS.
    double left_to_run(const Case& one, std::uint32_t tres, std::uint32_t association,
                       std::uint32_t qos) const;
    void check_submission(LimitCheck& check, const Case& one) const;
    void check_before_nodes(LimitCheck& check, const Case& one) const;
    void check_with_nodes(LimitCheck& check, const Case& one, const Choice& choice) const;
    void check_qos_with_nodes(LimitCheck& check, const Case& one, const Choice& choice,
                              std::uint32_t qos) const;
    void check_job(LimitCheck& check, const Case& one, const Choice& choice,
                   const LimitSet& per_job, const LimitSet& per_node,
                   const LimitSet& mins_per_job) const;
    void check_alone(LimitCheck& check, const Case& one) const;
    double most_on_a_node(const Case& one, const Choice& choice, std::uint32_t tres) const;
    // A maximum of the nearest association that has one.
    template <typename Member>
    const LimitSet& nearest(std::uint32_t association, Member member) const;
    bool note(JobIndex job, const LimitCheck& check);

    const Settings& settings_;
    const Requests& requests_;
    const Accounting& accounting_;
    const Multifactor* multifactor_;
    LimitCounts counts_;
    std::map<JobIndex, LimitCounts::Owner> submitted_;
    std::map<JobIndex, Running> running_;
    std::map<JobIndex, BlockingLimit> blocked_;
};

template <typename Member>
const LimitSet& AccountLimits::nearest(std::uint32_t association, Member member) const {
    constexpr auto is_set = [](const auto& limit) {
        if constexpr (requires { limit.has_value(); }) {
            return limit.has_value();
        } else {
            return !limit.empty();
        }
    };
    while (!is_set(accounting_.associations[association].limits.*member) &&
           accounting_.associations[association].parent != none) {
        association = accounting_.associations[association].parent;
    }
    return accounting_.associations[association].limits;
}

} // namespace noctule::slurm
