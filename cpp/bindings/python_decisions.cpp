// What a Python policy decides, made into decisions of the engine.
#include "bindings/python_messages.hpp"

#include "errors.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

namespace noctule {

void PythonView::apply(nb::handle decision) {
    const nb::handle type = decision.type();
    const Messages& m = *messages_;
    if (type.is(m.start_job)) {
        apply_start(decision);
    } else if (type.is(m.reject_job)) {
        const JobIndex job = find(nb::getattr(decision, m.job), "RejectJob");
        apply_or_postpone(decision, {.kind = Decision::Kind::reject, .job = job});
    } else if (type.is(m.kill_job)) {
        apply_kill(decision, {nb::object(nb::getattr(decision, m.job))});
    } else if (type.is(m.call_at)) {
        apply_call(decision);
    } else if (type.is(m.cancel_call)) {
        const TimerTag tag = tag_of(nb::getattr(decision, m.tag));
        engine_->apply({.kind = Decision::Kind::cancel_call, .tag = tag});
    } else if (type.is(m.register_job)) {
        apply_register(decision);
    } else if (type.is(m.set_power_state)) {
        apply_power_state(decision);
    } else if (type.is(m.send_message)) {
        apply_message(decision);
    } else if (type.is(m.busy_until)) {
        engine_->be_busy_until(number(decision, nb::getattr(decision, m.time)));
    } else {
        apply_rare(decision);
    }
}

void PythonView::apply_rare(nb::handle decision) {
    const nb::handle type = decision.type();
    const Messages& m = *messages_;
    if (type.is(m.kill_jobs)) {
        apply_kill(decision, collect(nb::getattr(decision, "jobs")));
    } else if (type.is(m.requeue_job)) {
        const JobIndex job = find(nb::getattr(decision, m.job), "RequeueJob");
        Decision what{.kind = Decision::Kind::requeue, .job = job};
        if (!nb::try_cast(nb::getattr(decision, "reason"), what.text)) {
            refuse(nb::repr(decision).c_str(), "expected a text as the reason");
        }
        apply_or_postpone(decision, std::move(what));
    } else if (type.is(m.change_job_state)) {
        apply_job_state(decision);
    } else if (type.is(m.set_metadata)) {
        const JobIndex job = find(nb::getattr(decision, m.job), "SetMetadata");
        Decision what{.kind = Decision::Kind::set_metadata, .job = job};
        if (!nb::try_cast(nb::getattr(decision, "text"), what.text)) {
            refuse(nb::repr(decision).c_str(), "expected a text");
        }
        apply_or_postpone(decision, std::move(what));
    } else if (type.is(m.ask_energy)) {
        apply_or_postpone(decision, {.kind = Decision::Kind::ask_energy});
    } else if (type.is(m.register_profile)) {
        apply_or_postpone(decision, {.kind = Decision::Kind::nothing});
    } else if (type.is(m.finish_registration)) {
        apply_or_postpone(decision, {.kind = Decision::Kind::finish_registration});
    } else if (type.is(m.continue_registration)) {
        apply_or_postpone(decision, {.kind = Decision::Kind::continue_registration});
    } else {
        refuse("decide()", "gave " + std::string(nb::repr(decision).c_str()) +
                               ", expected a decision such as StartJob(job)");
    }
}

double PythonView::number(nb::handle decision, nb::handle value) {
    double found = not_a_time;
    if (!nb::try_cast(value, found)) {
        refuse(nb::repr(decision).c_str(), "expected a number as the time");
    }
    return found;
}

void PythonView::apply_kill(nb::handle decision, const std::vector<nb::object>& jobs) {
    Decision what{.kind = Decision::Kind::kill};
    for (const nb::object& job : jobs) {
        if (job.type().is(messages_->view_job_type) &&
            nb::inst_ptr<ViewJob>(job)->view == nullptr) {
            continue; // it has ended
        }
        what.jobs.push_back(find(job, "KillJob"));
    }
    if (!what.jobs.empty()) {
        apply_or_postpone(decision, std::move(what));
    }
}

void PythonView::apply_job_state(nb::handle decision) {
    const JobIndex job = find(nb::getattr(decision, messages_->job), "ChangeJobState");
    const nb::object word = nb::getattr(decision, "state");
    for (std::uint32_t state = 0; state < nb::len(messages_->states); ++state) {
        if (nb::object(messages_->states[state]).equal(word)) {
            apply_or_postpone(decision,
                              {.kind = Decision::Kind::change_state, .job = job, .state = state});
            return;
        }
    }
    refuse("ChangeJobState(job_id=" + engine_->table().id(job) + ")",
           "got the state " + std::string(nb::repr(word).c_str()) +
               ", expected running, rejected, completed, failed, timed_out or killed");
}

void PythonView::apply_call(nb::handle decision) {
    const double time = number(decision, nb::getattr(decision, messages_->time));
    const TimerTag tag = tag_of(nb::getattr(decision, messages_->tag));
    if (engine_->is_busy()) {
        engine_->apply({.kind = Decision::Kind::call, .time = time, .tag = tag});
    } else {
        engine_->call_at(time, tag);
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
    const nb::object launch_delay = nb::getattr(decision, "launch_delay");
    if (!nb::try_cast(launch_delay, what.launch_delay) || !std::isfinite(what.launch_delay) ||
        what.launch_delay < 0.0) {
        refuse(name, "got the launch delay " + std::string(nb::repr(launch_delay).c_str()) +
                         ", expected a number >= 0");
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
    const nb::object profile = nb::getattr(decision, "profile");
    if (!what.named_hosts && !(mapping.is_none() && storages.is_none() && profile.is_none())) {
        refuse(name,
               "got a mapping, storages or a profile without hosts, expected hosts beside them");
    }
    if (!profile.is_none()) {
        const std::vector<std::uint32_t>& executors = what.layout.mapping;
        const nb::object added = jobs_of_.attr("program_of")(
            name, profile, executors.empty() ? what.hosts.size() : executors.size());
        what.layout.program = nb::cast<ProgramIndex>(added[0]);
        engine_->use_programs(nb::cast<std::shared_ptr<ProgramTable>>(added[1]));
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
    if (!nb::try_cast(nb::getattr(decision, "message"), what.text)) {
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
    engine_->postpone(number(decision, when), std::move(what));
}

void PythonView::apply_register(nb::handle decision) {
    const nb::object when = nb::getattr(decision, messages_->time);
    const double date = when.is_none() ? engine_->now() : number(decision, when);
    if (std::isnan(date) || date == infinity) {
        refuse(nb::repr(decision).c_str(), "expected a date as the time");
    }
    const nb::object row = jobs_of_.attr("register")(nb::getattr(decision, messages_->job));
    const auto field = [&](const char* name) { return nb::cast<double>(row.attr(name)); };
    const Job job{field("submit_time"),
                  field("walltime"),
                  field("amount"),
                  nb::cast<std::uint32_t>(row.attr("n_hosts")),
                  static_cast<ProfileKind>(nb::cast<int>(row.attr("kind"))),
                  nb::cast<bool>(row.attr("failing"))};
    const nb::object programs = row.attr("programs");
    engine_->register_job(
        job, nb::str(nb::object(row.attr("id"))).c_str(), date, field("cancel_time"),
        field("launch_delay"), field("epilogue_delay"),
        programs.is_none() ? no_program : nb::cast<ProgramIndex>(row.attr("program")),
        programs.is_none() ? nullptr : nb::cast<std::shared_ptr<ProgramTable>>(programs),
        nb::cast<std::vector<std::uint32_t>>(row.attr("rank_hosts")));
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
