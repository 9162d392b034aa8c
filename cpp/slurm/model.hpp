// Slurm's schedulers as a policy: what happens is told to the controller, and its clocks say when
// the main scheduler and the backfill scheduler look at the queue.
#pragma once

#include "slurm/backfill.hpp"
#include "slurm/clocks.hpp"
#include "slurm/main_pass.hpp"

namespace noctule::slurm {

class Model final : public Policy {
  public:
    Model(std::shared_ptr<const Settings> settings, Requests requests, const Plugins& plugins,
          Drive drive);

    void decide(const View& view, std::span<const Event> events, Decisions& decisions) override;
    bool wakes_hosts() const override { return controller_.power().is_used(); }
    std::vector<std::string> warnings() const override { return controller_.warnings(); }

    const Controller& controller() const { return controller_; }
    void keep_reasons() { controller_.reasons().keep(); }
    void keep_passes() { controller_.statistics.keeps_passes = true; }

  private:
    Seconds second(double time) const;
    double run_time(Seconds second) const;
    void catch_up(double now);
    void handle(const Moment& moment, const Event& event);
    void request_pass(double now);
    void note_end(const Moment& moment, JobIndex job);
    void run_due(const Moment& moment);
    void run_given(const Moment& moment);
    void run_clocks(const Moment& moment);
    void run_steps(const Moment& moment);
    double next_step_backfill() const;
    void skip_step_backfills(double now);
    void run_main(const Moment& moment, bool full);
    void run_backfill(const Moment& moment);
    void kill_late(const Moment& moment);
    void change_turns(const Moment& moment);
    void give_up_if_stuck(const Moment& moment);
    double next_date(const Moment& moment);
    void arm(const Moment& moment);

    Drive drive_;
    Controller controller_;
    MainPass main_;
    Backfill backfill_;
    MainClock main_clock_;
    BackfillClock backfill_clock_;
    LimitClock limit_clock_;
    std::size_t next_given_ = 0;  // pass
    double immediate_ = infinity; // a pass outside of the loop
    double last_main_ = -infinity;
    double postponed_ = infinity; // a pass, because of sched_min_interval
    bool postponed_is_full_ = false;
    double resume_ = infinity; // of a backfill pass that let others work
    double slice_ = infinity;  // end of one, where jobs take turns
    double step_ = infinity;   // of BSC's simulator
    double last_step_backfill_ = -infinity;
    double last_progress_ = 0.0; // a job came or ended for good
    double armed_ = infinity;
};

} // namespace noctule::slurm
