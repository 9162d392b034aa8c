// Users who wait for results before they submit more: groups of jobs, sessions or batches, each of
// which begins when those it depends on have ended and the user has thought.
//
// A group begins as much later than recorded as the latest of its dependencies ended later, so that
// nothing moves, not even by a rounding, where all ends are the recorded ones.
#pragma once

#include "replay/agenda.hpp"
#include "replay/arrivals.hpp"
#include "replay/calendar.hpp"
#include "replay/satisfaction.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace noctule {

using GroupIndex = std::uint32_t;

// What becomes of a think time: a reacting one follows a line over the response time.
struct Thinking {
    enum class Kind : std::uint8_t { kept, dropped, reacting };
    Kind kind = Kind::kept;
    double base = 0.0;
    double slope = 0.0;
    double most = 10.0; // times the recorded think time

    // What recorded think times are multiplied by.
    double factor(double recorded_response, double response) const;
};

// What was recorded of all groups; never changed, so that runs can share it.
struct GroupPlan {
    std::vector<double> start_time;  // of the first submission, by group
    std::vector<double> end_time;    // of the last finish, by group
    std::vector<std::uint32_t> user; // by group
    // Whether a group never begins before its recorded date, by group; empty if all may.
    std::vector<std::uint8_t> keeps_date;
    std::vector<std::uint32_t> n_dependencies;
    std::vector<std::uint32_t> first_job; // into the jobs, by group, and one more
    std::vector<JobIndex> jobs;
    std::vector<double> submit_time;          // by job of the workload
    std::vector<GroupIndex> group;            // the same
    std::vector<std::uint32_t> first_waiting; // into the waiting, by group, and one more
    std::vector<GroupIndex> waiting;
    // By waiting: when the group it waits for has to end for it to begin on time; empty if that is
    // always the recorded end.
    std::vector<double> due;
    std::vector<double> think_time; // by waiting; empty if they are kept
    Thinking thinking;
    std::shared_ptr<const Calendar> calendar;         // null: users always work
    std::shared_ptr<const PopulationPlan> population; // null: nobody leaves

    GroupIndex n_groups() const { return static_cast<GroupIndex>(start_time.size()); }
    // Enters which group each job is of, what each group depends on, and the time that its user
    // then thought.
    void set_dependencies(std::span<const std::uint32_t> first_dependency,
                          std::span<const GroupIndex> dependency,
                          std::span<const double> think_times);
};

class Users final : public Arrivals {
  public:
    explicit Users(std::shared_ptr<const GroupPlan> plan);

    JobIndex take(double now) override;
    void job_ended(const JobEnd& end) override;

  private:
    // With what is needed of the plan at the same time.
    struct Group {
        double shift; // of its dates, as far as is known
        double end_time;
        std::uint32_t n_missing;    // dependencies that have not ended
        std::uint32_t n_unfinished; // jobs
        std::uint32_t first_job;
        std::uint32_t first_waiting;
    };

    void begin(GroupIndex group, double now);
    void end(GroupIndex group, double now);
    double shift_of(GroupIndex ended, std::uint32_t waiting, double now) const;

    std::shared_ptr<const GroupPlan> plan_;
    Agenda agenda_;
    std::vector<Group> groups_; // and one more
    std::optional<Population> population_;
};

} // namespace noctule
