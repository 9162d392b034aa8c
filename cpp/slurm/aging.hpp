// How many jobs may age at once: MaxJobsAccrue and GrpJobsAccrue of associations and QOS.
#pragma once

#include "slurm/accounting.hpp"
#include "slurm/requests.hpp"

#include <map>
#include <utility>

namespace noctule::slurm {

class AgingJobs {
  public:
    explicit AgingJobs(const Accounting& accounting) : accounting_(accounting) {}

    // Whether there is any such limit.
    static bool are_bounded(const Accounting& accounting);

    void add(const Request& request);
    bool has_room_for(const Request& request) const;

  private:
    using Counts = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>;

    std::uint32_t account_of(const Request& request) const {
        return request.association == none ? none
                                           : accounting_.associations[request.association].parent;
    }
    static bool is_full(Bound bound, const Counts& counts, std::uint32_t a, std::uint32_t b = 0) {
        const auto at = counts.find({a, b});
        return bound && (at == counts.end() ? 0 : at->second) >= *bound;
    }

    const Accounting& accounting_;
    Counts by_association_; // those below included
    Counts by_qos_;
    Counts by_qos_and_user_;
    Counts by_qos_and_account_;
};

} // namespace noctule::slurm
