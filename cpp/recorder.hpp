// Append-only columns of what happened, handed to Python without copying.
#pragma once

#include "host_archive.hpp"
#include "types.hpp"

#include <vector>

namespace noctule {

struct JobRow {
    JobIndex job;
    JobState state;
    std::uint32_t n_hosts; // asked
    double submit_time;
    double start_time = not_a_time;
    double finish_time = not_a_time;
    ArchivedHosts hosts = {};
};

class Record {
  public:
    void reserve(std::size_t n_jobs);

    // Rows come in the order in which jobs end, are rejected or are cancelled.
    void add_job(const JobRow& row);

    // A row for every change of the hosts.
    void add_host_states(double time, std::uint32_t n_idle, std::uint32_t n_computing);

    std::size_t size() const { return job.size(); }
    HostSet hosts(std::size_t row) const;

    std::vector<JobIndex> job;
    std::vector<JobState> state;
    std::vector<std::uint32_t> n_hosts;
    std::vector<double> submit_time;
    std::vector<double> start_time;
    std::vector<double> finish_time;
    std::vector<ArchivedHosts> archived;
    HostArchive archive;

    std::vector<double> host_state_time;
    std::vector<std::uint32_t> host_state_idle;
    std::vector<std::uint32_t> host_state_computing;
};

} // namespace noctule
