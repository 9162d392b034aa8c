// The Python types of events and decisions, looked up once a run.
#pragma once

#include "bindings/view.hpp"

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
    nb::object hosts_unavailable = module.attr("HostsUnavailable");
    nb::object hosts_available = module.attr("HostsAvailable");
    nb::object external_event_occurred = module.attr("ExternalEventOccurred");
    nb::object external_events_ended = module.attr("ExternalEventsEnded");
    nb::object submissions_ended = module.attr("SubmissionsEnded");
    nb::object jobs_killed = module.attr("JobsKilled");
    nb::object energy_answered = module.attr("EnergyAnswered");
    nb::object window_announced = module.attr("WindowAnnounced");
    nb::object window_began = module.attr("WindowBegan");
    nb::object window_ended = module.attr("WindowEnded");
    nb::object start_job = module.attr("StartJob");
    nb::object reject_job = module.attr("RejectJob");
    nb::object kill_job = module.attr("KillJob");
    nb::object call_at = module.attr("CallAt");
    nb::object cancel_call = module.attr("CancelCall");
    nb::object register_job = module.attr("RegisterJob");
    nb::object set_power_state = module.attr("SetPowerState");
    nb::object send_message = module.attr("SendMessage");
    nb::object kill_jobs = module.attr("KillJobs");
    nb::object requeue_job = module.attr("RequeueJob");
    nb::object change_job_state = module.attr("ChangeJobState");
    nb::object set_metadata = module.attr("SetMetadata");
    nb::object ask_energy = module.attr("AskEnergy");
    nb::object busy_until = module.attr("BusyUntil");
    nb::object register_profile = module.attr("RegisterProfile");
    nb::object finish_registration = module.attr("FinishRegistration");
    nb::object continue_registration = module.attr("ContinueRegistration");
    nb::object states = nb::module_::import_("noctule.record").attr("STATE_WORDS");
    nb::object job = nb::str("job");
    nb::object hosts = nb::str("hosts");
    nb::object time = nb::str("time");
    nb::object tag = nb::str("tag");
    nb::object view_job_type = nb::borrow(nb::type<ViewJob>());
};

} // namespace noctule
