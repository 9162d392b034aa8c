// Runs a policy written in Python: shows it a view and events, takes what it decides.
#include "bindings/python_messages.hpp"

#include "errors.hpp"

#include <nanobind/stl/string.h>

#include <array>
#include <optional>

namespace noctule {

PythonView::PythonView(std::shared_ptr<BoundEngine> engine, nb::object jobs, bool clairvoyant)
    : engine_(std::move(engine)), jobs_of_(std::move(jobs)), clairvoyant_(clairvoyant),
      n_static_(engine_->table().jobs.size()), messages_(std::make_unique<Messages>()) {
    for (PyObject* name : {messages_->job.ptr(), messages_->hosts.ptr(), messages_->time.ptr(),
                           messages_->tag.ptr()}) {
        PyObject* interned = Py_NewRef(name);
        PyUnicode_InternInPlace(&interned);
        Py_DECREF(interned);
    }
}

PythonView::~PythonView() {
    for (PyObject* job : jobs_) {
        if (job != nullptr) {
            nb::inst_ptr<ViewJob>(job)->view = nullptr;
            Py_DECREF(job);
        }
    }
    if (events_.is_valid()) {
        nb::inst_ptr<Events>(events_)->view = nullptr;
    }
}

nb::object PythonView::id_of(JobIndex job) const {
    return job < n_static_ ? id_object(engine_->table(), job) : jobs_of_.attr("job_id")(job);
}

PyObject* PythonView::job_object(JobIndex job) {
    if (job >= jobs_.size()) {
        jobs_.resize(engine_->table().jobs.size(), nullptr);
    }
    if (jobs_[job] == nullptr) {
        const Job& what = engine_->job(job);
        nb::object object = nb::inst_alloc(nb::type<ViewJob>());
        new (nb::inst_ptr<ViewJob>(object))
            ViewJob{this, jobs_of_, job, what.submit_time, what.walltime, what.n_hosts, id_of(job)};
        nb::inst_mark_ready(object);
        jobs_[job] = object.release().ptr();
        ++n_shown_;
    }
    return Py_NewRef(jobs_[job]);
}

void PythonView::refuse(const std::string& what, const std::string& why) {
    throw DecisionError("t=" + format_time(engine_->now()) + " " + what + ": " + why);
}

JobIndex PythonView::find(nb::handle job, const char* decision) {
    if (job.type().is(messages_->view_job_type)) {
        const ViewJob* known = nb::inst_ptr<ViewJob>(job);
        if (known->view != this) {
            refuse(std::string(decision) + "(job_id=" + nb::str(known->id).c_str() + ")",
                   "the job has ended, or belongs to another simulation");
        }
        return known->index;
    }
    const std::size_t n = engine_->table().jobs.size();
    for (std::size_t i = index_of_id_.size(); i < n; ++i) {
        index_of_id_[id_of(static_cast<JobIndex>(i))] = i;
    }
    const auto found = nb::borrow(PyDict_GetItemWithError(index_of_id_.ptr(), job.ptr()));
    if (!found.is_valid()) {
        PyErr_Clear(); // an unhashable id is as unknown as any other
        refuse(std::string(decision) + "(job_id=" + nb::repr(job).c_str() + ")",
               "no job has this id");
    }
    return nb::cast<JobIndex>(found);
}

JobIndex PythonView::find_shown(nb::handle job) {
    const JobIndex found = find(job, "view.job");
    if (engine().state(found) == JobState::pending) {
        refuse("view.job(" + std::string(nb::repr(job).c_str()) + ")",
               "the job has not been submitted yet");
    }
    return found;
}

nb::tuple PythonView::make_events() {
    const auto happened = engine_->events();
    nb::list list;
    const auto external = [&](const Event& event) -> const ExternalEvent& {
        return engine_->external_event(event.subject);
    };
    const auto window = [&](const Event& event) { return engine_->windows()[event.subject]; };
    for (const Event& event : happened) {
        const auto job = [&] { return nb::steal(job_object(event.subject)); };
        switch (event.kind) {
        case EventKind::simulation_started:
            list.append(messages_->simulation_started(event.time));
            break;
        case EventKind::job_submitted:
            list.append(messages_->job_submitted(event.time, job()));
            break;
        case EventKind::job_finished: {
            const auto state = static_cast<std::size_t>(engine_->state(event.subject));
            list.append(messages_->job_finished(event.time, job(), messages_->states[state]));
            break;
        }
        case EventKind::job_cancelled:
            list.append(messages_->job_cancelled(event.time, job()));
            break;
        case EventKind::hosts_released:
            list.append(messages_->hosts_released(event.time, job()));
            break;
        case EventKind::timer_fired:
            list.append(messages_->timer_fired(event.time, tag_names_[event.subject]));
            break;
        case EventKind::message_sent: {
            const JobMessage& message = engine_->message(event.subject);
            list.append(messages_->message_sent(event.time, nb::steal(job_object(message.job)),
                                                message.text));
            break;
        }
        case EventKind::power_state_changed: {
            const PowerRequest& request = engine_->power_request(event.subject);
            list.append(messages_->power_state_changed(event.time, request.hosts, request.state));
            break;
        }
        case EventKind::host_failed:
            list.append(messages_->host_failed(event.time, event.subject));
            break;
        case EventKind::host_restored:
            list.append(messages_->host_restored(event.time, event.subject));
            break;
        case EventKind::hosts_unavailable:
            list.append(messages_->hosts_unavailable(event.time, external(event).hosts));
            break;
        case EventKind::hosts_available:
            list.append(messages_->hosts_available(event.time, external(event).hosts));
            break;
        case EventKind::window_announced:
            list.append(messages_->window_announced(event.time, window(event)));
            break;
        case EventKind::window_began:
            list.append(messages_->window_began(event.time, window(event)));
            break;
        case EventKind::window_ended:
            list.append(messages_->window_ended(event.time, window(event)));
            break;
        case EventKind::external_event_occurred:
            list.append(messages_->external_event_occurred(event.time, external(event).data));
            break;
        case EventKind::external_events_ended:
            list.append(messages_->external_events_ended(event.time));
            break;
        case EventKind::submissions_ended:
            list.append(messages_->submissions_ended(event.time));
            break;
        case EventKind::jobs_killed: {
            nb::list jobs;
            for (const JobIndex one : engine_->killed_jobs(event.subject)) {
                jobs.append(nb::steal(job_object(one)));
            }
            list.append(messages_->jobs_killed(event.time, nb::tuple(jobs)));
            break;
        }
        case EventKind::energy_answered:
            list.append(messages_->energy_answered(event.time, engine_->answer(event.subject)));
            break;
        }
    }
    return nb::tuple(list);
}

bool PythonView::run(nb::handle self, nb::handle decide, std::uint64_t n_calls, nb::handle policy) {
    if (in_call_) {
        refuse("decide()", "went on with its own simulation");
    }
    struct InCall {
        bool& flag;
        explicit InCall(bool& f) : flag(f) { flag = true; }
        ~InCall() { flag = false; }
    } const in_call(in_call_);
    const bool may_shorten = nb::hasattr(policy, "shortcut");
    nb::object shortcut; // kept alive
    for (; n_calls > 0; --n_calls) {
        if (may_shorten) {
            shortcut = nb::getattr(policy, "shortcut");
        }
        Shortcut* const shorter = shortcut_of(self, shortcut);
        if (!(shorter == nullptr ? engine().advance() : decide_shortly(*shorter, n_calls))) {
            return false;
        }
        if (n_calls == 0) {
            break;
        }
        call(self, decide);
    }
    return true;
}

// Goes on to the next instant at which Python must decide, unless too many calls lie before it;
// false once the run has ended.
bool PythonView::decide_shortly(Shortcut& shortcut, std::uint64_t& n_calls) {
    Engine& engine = this->engine();
    std::vector<JobIndex> ended;
    struct Forgetting {
        PythonView& view;
        const std::vector<JobIndex>& jobs;
        ~Forgetting() {
            for (const JobIndex job : jobs) {
                view.forget(job);
            }
        }
    } const forgetting{*this, ended};
    std::optional<BoundEngine::NativeRun> native_run;
    std::optional<nb::gil_scoped_release> release;
    if (!shortcut.needs_lock()) {
        native_run.emplace(*engine_);
        release.emplace();
    }
    const noctule::View view(engine);
    Decisions decisions(engine);
    for (; n_calls > 0; --n_calls) {
        if (!engine.advance()) {
            return false;
        }
        if (!shortcut.decide(view, engine.events(), decisions)) {
            return true;
        }
        note_ended(ended);
    }
    return true;
}

// Jobs that Python has seen and that have ended in this instant.
void PythonView::note_ended(std::vector<JobIndex>& ended) const {
    if (n_shown_ == 0) {
        return;
    }
    for (const Event& event : engine_->events()) {
        const bool is_end =
            event.kind == EventKind::job_finished || event.kind == EventKind::hosts_released;
        if (is_end && event.subject < jobs_.size() && jobs_[event.subject] != nullptr) {
            ended.push_back(event.subject);
        }
    }
}

void PythonView::call(nb::handle self, nb::handle decide) {
    if (!events_.is_valid()) {
        events_ = nb::cast(Events{this, {}});
    }
    std::array<PyObject*, 3> arguments{nullptr, self.ptr(), events_.ptr()};
    const nb::object answer = nb::steal(PyObject_Vectorcall(
        decide.ptr(), arguments.data() + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
    if (!answer.is_valid()) {
        nb::raise_python_error();
    }
    std::vector<nb::object> decisions;
    if (!answer.is_none()) {
        decisions = collect(answer);
    }
    settle_events();
    for (const nb::object& decision : decisions) {
        apply(decision);
    }
    forget_ended();
}

// Events that the policy keeps must outlive this instant; others are used again.
void PythonView::settle_events() {
    Events* events = nb::inst_ptr<Events>(events_);
    if (Py_REFCNT(events_.ptr()) == 1) {
        events->made.reset();
        return;
    }
    if (!events->made.is_valid()) {
        events->made = make_events();
    }
    events_.reset();
}

// All decisions are taken before the first is applied, so that the view stands still meanwhile.
std::vector<nb::object> PythonView::collect(nb::handle answer) {
    std::vector<nb::object> decisions;
    const nb::object iterator = nb::steal(PyObject_GetIter(answer.ptr()));
    if (!iterator.is_valid()) {
        PyErr_Clear();
        refuse("decide()", "gave " + std::string(nb::repr(answer).c_str()) +
                               ", expected decisions to iterate over");
    }
    while (PyObject* decision = PyIter_Next(iterator.ptr())) {
        decisions.push_back(nb::steal(decision));
    }
    if (PyErr_Occurred() != nullptr) {
        nb::raise_python_error();
    }
    return decisions;
}

void PythonView::forget_ended() {
    for (const Event& event : engine_->events()) {
        switch (event.kind) {
        case EventKind::job_finished:
        case EventKind::job_cancelled:
        case EventKind::hosts_released:
            forget(event.subject);
            break;
        case EventKind::jobs_killed:
            for (const JobIndex job : engine_->killed_jobs(event.subject)) {
                forget(job);
            }
            break;
        default:
            break;
        }
    }
}

void PythonView::forget(JobIndex job) {
    if (job < jobs_.size() && jobs_[job] != nullptr) {
        nb::inst_ptr<ViewJob>(jobs_[job])->view = nullptr;
        Py_CLEAR(jobs_[job]);
        --n_shown_;
    }
}

} // namespace noctule
