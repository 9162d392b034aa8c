// The main scheduler: starts jobs in order on idle nodes; the first that does not fit closes its
// partition.
#pragma once

#include "slurm/evictions.hpp"

namespace noctule::slurm {

class MainPass {
  public:
    explicit MainPass(Controller& controller) : controller_(controller), evictions_(controller) {}

    // A full pass looks at all jobs, a quick one at default_queue_depth of them and one more.
    void run(const Moment& moment, double time, bool full);

  private:
    enum class Outcome : std::uint8_t { started, busy, skipped };

    // Tries a record, tasks of an array until one does not start; gives the parameter by which the
    // pass ends here, if one does.
    std::string_view look_at(const Moment& moment, const QueueRecord& record, bool full);
    std::string_view why_over() const;
    double microseconds() const;
    bool is_open(const QueueRecord& record) const;
    bool reaches_depth(const QueueRecord& record);
    Outcome try_record(const Moment& moment, const QueueRecord& record);
    bool waits_for_others(const Trial& trial, std::uint32_t partition) const;
    void hold_back(const Moment& moment, const QueueRecord& record, bool is_busy);
    void close(std::uint32_t partition);
    void close_completing(Seconds now);
    bool closes_nothing(const Moment& moment, const QueueRecord& record) const;
    bool anything_left() const;

    Controller& controller_;
    Evictions evictions_;
    // Of one pass.
    NodeSet available_, candidates_;
    std::vector<bool> closed_;           // by partition
    std::vector<std::uint32_t> n_tried_; // by partition
    // The array that was tried last, unless its task started, and where.
    std::pair<std::uint32_t, std::uint32_t> rejected_array_ = {none, none};
    std::vector<std::uint32_t> failed_reservations_;
    std::uint32_t depth_ = 0; // records that a quick pass has looked at
    std::uint32_t n_tested_ = 0;
    std::uint32_t n_started_ = 0;
    bool out_of_licenses_ = false;
    bool tells_reasons_ = false; // of jobs that are kept from being tried
};

} // namespace noctule::slurm
