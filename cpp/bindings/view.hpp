// What a Python policy sees, and how its decisions reach the engine.
#pragma once

#include "bindings/bindings.hpp"
#include "shortcut.hpp"

namespace noctule {

class PythonView;

// A job as a policy may know it: one object a job, made when it is first shown.
struct ViewJob {
    PythonView* view; // none once the job has ended, or the view is gone
    nb::object jobs;  // what knows its labels
    JobIndex index;
    double submit_time;
    double walltime;
    std::uint32_t n_hosts;
    nb::object id;
};

// The events of one call; made into objects only if the policy looks at them.
struct Events {
    PythonView* view; // none once the view is gone
    nb::object made;  // a tuple, once made
};

// What stands for a shortcut of this view; null if it is none, or of another view.
Shortcut* shortcut_of(nb::handle view, nb::handle shortcut);

class PythonView {
  public:
    // `jobs` knows what the engine need not: labels, extra fields and the jobs that the policy
    // registers.
    PythonView(std::shared_ptr<BoundEngine> engine, nb::object jobs, bool clairvoyant);
    ~PythonView();
    PythonView(const PythonView&) = delete;

    Engine& engine() { return engine_->at_rest(); }
    std::size_t n_static_jobs() const { return n_static_; }
    const nb::object& jobs() const { return jobs_of_; }
    bool clairvoyant() const { return clairvoyant_; }

    // A new reference to the object of a job.
    PyObject* job_object(JobIndex job);

    // The job that an object of the view or an id stands for.
    JobIndex find(nb::handle job, const char* decision);

    // The same, for a job that a policy may know of: not one of the future.
    JobIndex find_shown(nb::handle job);

    nb::tuple make_events();

    // Calls decide(self, events) at most n_calls times, or the shortcut of the policy in place of
    // it where that can decide; false once the run has ended.
    bool run(nb::handle self, nb::handle decide, std::uint64_t n_calls, nb::handle policy);

    // The number that the engine knows a call by.
    TimerTag tag_of(nb::handle name);

  private:
    struct Messages; // the Python types of events and decisions

    nb::object id_of(JobIndex job) const;
    bool decide_shortly(Shortcut& shortcut, std::uint64_t& n_calls);
    void call(nb::handle self, nb::handle decide);
    std::vector<nb::object> collect(nb::handle answer);
    void settle_events();
    void apply(nb::handle decision);
    void apply_rare(nb::handle decision);
    void apply_start(nb::handle decision);
    void apply_kill(nb::handle decision, const std::vector<nb::object>& jobs);
    void apply_job_state(nb::handle decision);
    void apply_call(nb::handle decision);
    void apply_power_state(nb::handle decision);
    void apply_message(nb::handle decision);
    HostSet host_set(nb::handle hosts, const std::string& decision);
    void apply_register(nb::handle decision);
    void apply_or_postpone(nb::handle decision, Decision&& what);
    double number(nb::handle decision, nb::handle value);
    void forget_ended();
    void note_ended(std::vector<JobIndex>& ended) const;
    void forget(JobIndex job);
    [[noreturn]] void refuse(const std::string& what, const std::string& why);

    std::shared_ptr<BoundEngine> engine_;
    nb::object jobs_of_;
    bool clairvoyant_;
    std::size_t n_static_; // jobs of the workload; those behind were registered
    std::unique_ptr<Messages> messages_;
    std::vector<PyObject*> jobs_; // by index; null until shown and after the job's end
    std::size_t n_shown_ = 0;     // of them
    nb::dict index_of_id_;        // made when a decision names a job by its id
    nb::dict tag_of_name_;
    nb::list tag_names_;
    nb::object events_;
    bool in_call_ = false;
};

} // namespace noctule
