// Runs a policy written in Python: shows it a view and events, applies what it decides.
#include "bindings/view.hpp"

#include "errors.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cmath>

namespace noctule {

struct PythonView::Messages {
    nb::module_ module = nb::module_::import_("noctule.messages");
    nb::object simulation_started = module.attr("SimulationStarted");
    nb::object job_submitted = module.attr("JobSubmitted");
    nb::object job_finished = module.attr("JobFinished");
    nb::object job_cancelled = module.attr("JobCancelled");
    nb::object hosts_released = module.attr("HostsReleased");
    nb::object timer_fired = module.attr("TimerFired");
    nb::object message_sent = module.attr("MessageSent");
    nb::object power_state_changed = module.attr("PowerStateChanged");
    nb::object host_failed = module.attr("HostFailed");
    nb::object host_restored = module.attr("HostRestored");
    nb::object start_job = module.attr("StartJob");
    nb::object reject_job = module.attr("RejectJob");
    nb::object kill_job = module.attr("KillJob");
    nb::object call_at = module.attr("CallAt");
    nb::object cancel_call = module.attr("CancelCall");
    nb::object register_job = module.attr("RegisterJob");
    nb::object set_power_state = module.attr("SetPowerState");
    nb::object send_message = module.attr("SendMessage");
    nb::object states = nb::module_::import_("noctule.record").attr("STATE_WORDS");
    nb::object job = nb::str("job");
    nb::object hosts = nb::str("hosts");
    nb::object time = nb::str("time");
    nb::object tag = nb::str("tag");
    nb::object view_job_type = nb::borrow(nb::type<ViewJob>());
};

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
    for (const Event& event : happened) {
        const auto job = [&] { return nb::steal(job_object(event.job)); };
        switch (event.kind) {
        case EventKind::simulation_started:
            list.append(messages_->simulation_started(event.time));
            break;
        case EventKind::job_submitted:
            list.append(messages_->job_submitted(event.time, job()));
            break;
        case EventKind::job_finished: {
            const auto state = static_cast<std::size_t>(engine_->state(event.job));
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
            list.append(messages_->timer_fired(event.time, tag_names_[event.job]));
            break;
        case EventKind::message_sent: {
            const JobMessage& message = engine_->message(event.job);
            list.append(messages_->message_sent(event.time, nb::steal(job_object(message.job)),
                                                message.text));
            break;
        }
        case EventKind::power_state_changed: {
            const PowerRequest& request = engine_->power_request(event.job);
            list.append(messages_->power_state_changed(event.time, request.hosts, request.state));
            break;
        }
        case EventKind::host_failed:
            list.append(messages_->host_failed(event.time, event.job));
            break;
        case EventKind::host_restored:
            list.append(messages_->host_restored(event.time, event.job));
            break;
        }
    }
    return nb::tuple(list);
}

bool PythonView::run(nb::handle self, nb::handle decide, std::uint64_t n_calls) {
    if (in_call_) {
        refuse("decide()", "went on with its own simulation");
    }
    struct InCall {
        bool& flag;
        explicit InCall(bool& f) : flag(f) { flag = true; }
        ~InCall() { flag = false; }
    } const in_call(in_call_);
    for (; n_calls > 0; --n_calls) {
        if (!engine().advance()) {
            return false;
        }
        call(self, decide);
    }
    return true;
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

void PythonView::apply(nb::handle decision) {
    const nb::handle type = decision.type();
    const Messages& m = *messages_;
    if (type.is(m.start_job)) {
        apply_start(decision);
    } else if (type.is(m.reject_job)) {
        const JobIndex job = find(nb::getattr(decision, m.job), "RejectJob");
        apply_or_postpone(decision, {.kind = Decision::Kind::reject, .job = job});
    } else if (type.is(m.kill_job)) {
        const nb::object job = nb::getattr(decision, m.job);
        if (job.type().is(m.view_job_type) && nb::inst_ptr<ViewJob>(job)->view == nullptr) {
            return; // it has ended
        }
        apply_or_postpone(decision, {.kind = Decision::Kind::kill, .job = find(job, "KillJob")});
    } else if (type.is(m.call_at)) {
        double time = not_a_time;
        if (!nb::try_cast(nb::getattr(decision, m.time), time)) {
            refuse(nb::repr(decision).c_str(), "expected a number as the time");
        }
        engine_->call_at(time, tag_of(nb::getattr(decision, m.tag)));
    } else if (type.is(m.cancel_call)) {
        engine_->cancel_call(tag_of(nb::getattr(decision, m.tag)));
    } else if (type.is(m.register_job)) {
        apply_register(decision);
    } else if (type.is(m.set_power_state)) {
        apply_power_state(decision);
    } else if (type.is(m.send_message)) {
        apply_message(decision);
    } else if (nb::isinstance<Instruction>(decision)) {
        engine_->say(*nb::inst_ptr<Instruction>(decision));
    } else {
        refuse("decide()", "gave " + std::string(nb::repr(decision).c_str()) +
                               ", expected a decision such as StartJob(job)");
    }
}

HostSet PythonView::host_set(nb::handle hosts, const std::string& decision) {
    HostSet set;
    if (!nb::try_cast(hosts, set)) {
        try {
            set = nb::cast<HostSet>(nb::type<HostSet>()(hosts));
        } catch (const nb::python_error&) {
            refuse(decision, "got the hosts " + std::string(nb::repr(hosts).c_str()) +
                                 ", expected a HostSet, whole numbers, or a text such as '0-3 7'");
        }
    }
    return set;
}

void PythonView::apply_start(nb::handle decision) {
    const JobIndex job = find(nb::getattr(decision, messages_->job), "StartJob");
    const std::string name = "StartJob(job_id=" + engine_->table().id(job) + ")";
    Decision what{.kind = Decision::Kind::start, .job = job};
    const nb::object hosts = nb::getattr(decision, messages_->hosts);
    if (!hosts.is_none()) {
        what.named_hosts = true;
        what.hosts = host_set(hosts, name);
    }
    const nb::object mapping = nb::getattr(decision, "mapping");
    const nb::object storages = nb::getattr(decision, "storages");
    if (!mapping.is_none() && !nb::try_cast(mapping, what.layout.mapping)) {
        refuse(name, "got the mapping " + std::string(nb::repr(mapping).c_str()) +
                         ", expected positions among the named hosts");
    }
    if (!storages.is_none() && !nb::try_cast(storages, what.layout.storages)) {
        refuse(name, "got the storages " + std::string(nb::repr(storages).c_str()) +
                         ", expected ids of storage hosts by label");
    }
    if (!what.named_hosts && !(mapping.is_none() && storages.is_none())) {
        refuse(name, "got a mapping or storages without hosts, expected hosts beside them");
    }
    apply_or_postpone(decision, std::move(what));
}

void PythonView::apply_power_state(nb::handle decision) {
    Decision what{.kind = Decision::Kind::set_power_state};
    what.hosts = host_set(nb::getattr(decision, messages_->hosts), "SetPowerState");
    if (!nb::try_cast(nb::getattr(decision, "state"), what.state)) {
        refuse(nb::repr(decision).c_str(), "expected the number of a power state");
    }
    apply_or_postpone(decision, std::move(what));
}

void PythonView::apply_message(nb::handle decision) {
    Decision what{.kind = Decision::Kind::send_message};
    what.job = find(nb::getattr(decision, messages_->job), "SendMessage");
    if (!nb::try_cast(nb::getattr(decision, "message"), what.message)) {
        refuse(nb::repr(decision).c_str(), "expected a text as the message");
    }
    apply_or_postpone(decision, std::move(what));
}

void PythonView::apply_or_postpone(nb::handle decision, Decision&& what) {
    const nb::object when = nb::getattr(decision, messages_->time);
    if (when.is_none()) {
        engine_->apply(what);
        return;
    }
    double time = not_a_time;
    if (!nb::try_cast(when, time)) {
        refuse(nb::repr(decision).c_str(), "expected a number as the time");
    }
    engine_->postpone(time, std::move(what));
}

void PythonView::apply_register(nb::handle decision) {
    const nb::object row = jobs_of_.attr("register")(nb::getattr(decision, messages_->job));
    const auto number = [&](const char* name) { return nb::cast<double>(row.attr(name)); };
    const Job job{number("submit_time"),
                  number("walltime"),
                  number("amount"),
                  nb::cast<std::uint32_t>(row.attr("n_hosts")),
                  static_cast<ProfileKind>(nb::cast<int>(row.attr("kind"))),
                  nb::cast<bool>(row.attr("failing"))};
    const nb::object programs = row.attr("programs");
    engine_->register_job(
        job, nb::str(nb::object(row.attr("id"))).c_str(), number("cancel_time"),
        number("launch_delay"), number("epilogue_delay"),
        programs.is_none() ? no_program : nb::cast<ProgramIndex>(row.attr("program")),
        programs.is_none() ? nullptr : nb::cast<std::shared_ptr<ProgramTable>>(programs),
        nb::cast<std::vector<std::uint32_t>>(row.attr("rank_hosts")));
}

void PythonView::forget_ended() {
    for (const Event& event : engine_->events()) {
        if (event.kind != EventKind::job_finished && event.kind != EventKind::job_cancelled &&
            event.kind != EventKind::hosts_released) {
            continue;
        }
        if (event.job < jobs_.size() && jobs_[event.job] != nullptr) {
            nb::inst_ptr<ViewJob>(jobs_[event.job])->view = nullptr;
            Py_CLEAR(jobs_[event.job]);
        }
    }
}

TimerTag PythonView::tag_of(nb::handle name) {
    if (!nb::isinstance<nb::str>(name)) {
        refuse("CallAt",
               "got the tag " + std::string(nb::repr(name).c_str()) + ", expected a text");
    }
    if (!tag_of_name_.contains(name)) {
        tag_of_name_[name] = tag_names_.size();
        tag_names_.append(name);
    }
    return nb::cast<TimerTag>(tag_of_name_[name]);
}

} // namespace noctule
