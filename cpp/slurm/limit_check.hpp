// One walk through the limits that apply to a job, from the partition's QOS to the root account:
// the first that is broken is kept. What a QOS bounds, nothing after it bounds again.
#pragma once

#include "slurm/settings.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace noctule::slurm {

struct BlockingLimit {
    std::string name;  // as squeue gives it: QOSMaxJobsPerUserLimit
    std::string whose; // the QOS or association
    double allowed;
    double needed; // used and asked for
};

enum class LimitRule : std::uint8_t {
    grp_tres,
    grp_tres_mins,
    grp_tres_run_mins,
    max_tres_per_job,
    max_tres_per_node,
    max_tres_mins_per_job,
    max_tres_per_user,
    max_tres_per_account,
    min_tres,
    // without resources
    grp_jobs,
    grp_submit_jobs,
    grp_wall,
    max_jobs,
    max_jobs_per_user,
    max_jobs_per_account,
    max_submit_jobs,
    max_submit_jobs_per_user,
    max_submit_jobs_per_account,
    max_wall,
    usage_threshold,
};

class LimitCheck {
  public:
    explicit LimitCheck(const Settings& settings)
        : first_license_(first_gres_tres + static_cast<std::uint32_t>(settings.gres_kinds.size())) {
    }

    void enter_qos(std::string_view name) { prefix_ = "QOS", whose_ = name; }
    void enter_association(std::string_view name) { prefix_ = "Assoc", whose_ = name; }

    enum class Breaks : std::uint8_t { above, below, reaching };

    // `needed` is a function, of the resource where there is one: it is only called where there
    // is such a limit.
    template <typename Limit, typename Needed>
    void bound(LimitRule rule, const std::optional<Limit>& allowed, Needed&& needed,
               Breaks breaks = Breaks::above) {
        if (allowed && is_open(rule, 0)) {
            judge(rule, 0, static_cast<double>(*allowed), needed(), breaks);
        }
    }
    template <typename Needed>
    void bound(LimitRule rule, const TresLimits& limits, Needed&& needed,
               Breaks breaks = Breaks::above, double factor = 1.0) {
        for (const TresLimit& limit : limits) {
            if (is_open(rule, limit.tres)) {
                judge(rule, limit.tres, static_cast<double>(limit.amount) * factor,
                      needed(limit.tres), breaks);
            }
        }
    }

    const std::optional<BlockingLimit>& found() const { return found_; }

  private:
    bool is_open(LimitRule rule, std::uint32_t tres) const {
        return !found_ && !bound_.contains({rule, tres});
    }
    void judge(LimitRule rule, std::uint32_t tres, double allowed, double needed, Breaks breaks);
    std::string name(LimitRule rule, std::uint32_t tres) const;

    std::uint32_t first_license_;
    std::string_view prefix_ = "QOS";
    std::string_view whose_ = "";
    std::set<std::pair<LimitRule, std::uint32_t>> bound_; // by a QOS
    std::optional<BlockingLimit> found_ = {};
};

} // namespace noctule::slurm
