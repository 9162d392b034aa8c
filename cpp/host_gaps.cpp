#include "host_gaps.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace noctule {

HostGaps host_gaps(std::span<const HostSet* const> hosts, std::span<const double> start_time,
                   std::span<const double> finish_time, std::uint32_t n_hosts, double begin,
                   double end) {
    std::vector<std::size_t> rows(hosts.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    std::erase_if(rows, [&](std::size_t row) { return std::isnan(start_time[row]); });
    std::ranges::stable_sort(rows, {}, [&](std::size_t row) { return start_time[row]; });
    HostGaps gaps;
    std::vector<double> busy_until(n_hosts, begin);
    const auto add = [&](HostId host, double until) {
        if (until > busy_until[host]) {
            gaps.host.push_back(host);
            gaps.begin.push_back(busy_until[host]);
            gaps.end.push_back(until);
        }
    };
    for (const std::size_t row : rows) {
        const double finish = std::isnan(finish_time[row]) ? end : finish_time[row];
        for (const Interval& run : hosts[row]->intervals()) {
            for (HostId host = run.first; host <= run.last && host < n_hosts; ++host) {
                add(host, std::min(start_time[row], end));
                busy_until[host] = std::max(busy_until[host], finish);
            }
        }
    }
    for (HostId host = 0; host < n_hosts; ++host) {
        add(host, end);
    }
    return gaps;
}

} // namespace noctule
