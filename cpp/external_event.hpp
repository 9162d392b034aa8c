// What happens from outside, at dates that are known beforehand, and who tells of it.
#pragma once

#include "host_set.hpp"
#include "replay/arrivals.hpp"

#include <memory>
#include <string>
#include <vector>

namespace noctule {

struct ExternalEvent {
    // In the order in which events of one date occur.
    enum class Kind : std::uint8_t { restored, available, failed, unavailable, generic };
    double time;
    Kind kind;
    HostSet hosts = {};    // that come or go
    std::string data = {}; // of a generic one
};

// Who submits what. Batsim has a submitter for each workload, and one for each list of events.
struct Submitters {
    std::vector<std::vector<JobIndex>> jobs = {}; // none: one for all jobs, if there are some
    std::vector<std::vector<ExternalEvent>> events = {};
    // Where the dates of jobs follow from what happens; it then submits all of them.
    std::unique_ptr<Arrivals> arrivals = nullptr;
};

} // namespace noctule
