"""What a decision component of Batsim 5 replies, as checked structs.

A reply is decoded into the types of its events in one go; only when that fails is it looked at
again, to say where and what was wrong. Fields that are not known are ignored: revisions of the
protocol differ in them. Types of unions within an event are checked where they matter.
"""

from __future__ import annotations

from typing import Any

import msgspec

from noctule.errors import ProtocolError
from noctule.remote.batsim5_writing import Features
from noctule.remote.reply_decoding import decoded, quoted


class _Data(msgspec.Struct, gc=False):
    """The fields of an event; they have FlatBuffers' defaults."""


class Nothing(_Data):
    """An event that has no fields."""


class Hello(_Data):
    """Who a decision component is, and what it wants."""

    requested_simulation_features: Features
    batprotocol_version: str = ""
    decision_component_name: str = ""
    decision_component_version: str = ""
    decision_component_commit: str = ""


class Placement(_Data):
    """A predefined strategy, or hosts of executors by their positions in an allocation."""

    strategy: str = "SpreadOverHostsFirst"
    mapping: list[int] | None = None


class Allocation(_Data):
    host_allocation: str
    executor_placement_type: str | None = None
    executor_placement: Placement | None = None


class Override(Allocation, kw_only=True):
    profile_id: str


class StoragePlacement(_Data):
    storage_name: str
    host_id: int = 0


class ExecuteData(_Data):
    job_id: str
    allocation: Allocation
    profile_allocation_override: list[Override] | None = None
    storage_placement: list[StoragePlacement] | None = None


class JobData(_Data):
    job_id: str


class KillData(_Data):
    job_ids: list[str]


class JobFields(_Data):
    profile_id: str
    resource_request: int = 0
    walltime: float | None = None
    extra_data: str | None = None


class RegisterJobData(_Data):
    job_id: str
    job: JobFields


class ProfileFields(_Data):
    id: str
    profile_type: str
    profile: dict[str, Any]
    extra_data: str | None = None


class RegisterProfileData(_Data):
    profile: ProfileFields


class Periods(_Data):
    nb_periods: int = 0


class When(_Data):
    """A date, or a period with a mode; which of the two, the type beside it says."""

    time: int = 0
    time_unit: str = "Second"
    period: int = 0
    offset: int = 0
    mode_type: str = "Infinite"
    mode: Periods | None = None


class CallData(_Data):
    call_me_later_id: str
    when_type: str
    when: When


class StopCallData(_Data):
    call_me_later_id: str


class Trigger(_Data):
    temporal_trigger_type: str
    temporal_trigger: When


class Resources(_Data):
    host_ids: str = ""


class Accumulation(_Data):
    reset_mode_type: str = "NoReset"


class ProbeData(_Data):
    probe_id: str
    resources_type: str
    resources: Resources
    measurement_triggering_policy_type: str
    measurement_triggering_policy: Trigger
    metrics: str = "Power"
    data_accumulation_strategy_type: str = "NoProbeDataAccumulation"
    data_accumulation_strategy: Accumulation | None = None
    resources_aggregation_function_type: str = "NoResourcesAggregation"
    temporal_aggregation_function_type: str = "NoTemporalAggregation"
    emission_filtering_policy_type: str = "NoFiltering"


class ProbeIdData(_Data):
    probe_id: str


class PStateData(_Data):
    host_ids: str
    pstate: int = 0


class OnOffData(_Data):
    host_ids: str
    state: int = 0


class _Event(msgspec.Struct, gc=False, tag_field="event_type"):
    timestamp: float


class EdcHello(_Event, tag="EDCHelloEvent"):
    event: Hello


class ExecuteJob(_Event, tag="ExecuteJobEvent"):
    event: ExecuteData


class RejectJob(_Event, tag="RejectJobEvent"):
    event: JobData


class KillJobs(_Event, tag="KillJobsEvent"):
    event: KillData


class RegisterJob(_Event, tag="RegisterJobEvent"):
    event: RegisterJobData


class RegisterProfile(_Event, tag="RegisterProfileEvent"):
    event: RegisterProfileData


class FinishRegistration(_Event, tag="FinishRegistrationEvent"):
    event: Nothing


class ForceSimulationStop(_Event, tag="ForceSimulationStopEvent"):
    event: Nothing


class CallMeLater(_Event, tag="CallMeLaterEvent"):
    event: CallData


class StopCallMeLater(_Event, tag="StopCallMeLaterEvent"):
    event: StopCallData


class CreateProbe(_Event, tag="CreateProbeEvent"):
    event: ProbeData


class StopProbe(_Event, tag="StopProbeEvent"):
    event: ProbeIdData


class TriggerProbe(_Event, tag="TriggerProbeEvent"):
    event: ProbeIdData


class ResetProbe(_Event, tag="ResetProbeEvent"):
    event: ProbeIdData


class ChangeHostsPState(_Event, tag="ChangeHostsPStateEvent"):
    event: PStateData


class TurnOnOffHosts(_Event, tag="TurnOnOffHostsEvent"):
    event: OnOffData


#: Any event of a reply.
MessageEvent = (
    EdcHello
    | ExecuteJob
    | RejectJob
    | KillJobs
    | RegisterJob
    | RegisterProfile
    | FinishRegistration
    | ForceSimulationStop
    | CallMeLater
    | StopCallMeLater
    | CreateProbe
    | StopProbe
    | TriggerProbe
    | ResetProbe
    | ChangeHostsPState
    | TurnOnOffHosts
)


class Message(msgspec.Struct, gc=False):
    """What was decided, and when its decider is ready again."""

    now: float
    events: list[MessageEvent]


class _EventKind(msgspec.Struct):
    event_type: str = "NONE"


class _Kinds(msgspec.Struct):
    events: list[_EventKind] = []


_decode = msgspec.json.Decoder(Message).decode
_decode_kinds = msgspec.json.Decoder(_Kinds).decode
_KNOWN = ", ".join(str(one.__struct_config__.tag) for one in MessageEvent.__args__)
_TYPES = ("].event_type", _KNOWN)
_NO_HELLO = "Please fix your EDC so that it sends an EDCHello back to Batsim"


def read_hello(text: bytes, where: str = "hello") -> Hello:
    """Read the first message of a decision component: exactly one EDCHelloEvent."""
    text = _without_end(text)
    kinds = decoded(_decode_kinds, text, where, _TYPES).events if text.strip() else []
    if [one.event_type for one in kinds] != ["EDCHelloEvent"]:
        found = ", ".join(one.event_type for one in kinds[:5]) or "no events"
        raise ProtocolError(f"{where}: got {found}, expected one EDCHelloEvent. {_NO_HELLO}")
    (event,) = decoded(_decode, text, where, _TYPES).events
    assert isinstance(event, EdcHello)
    return event.event


def read_message(text: bytes, where: str) -> Message:
    """Decode a reply and check its dates; `where` begins the sentences about what is wrong."""
    message = decoded(_decode, _without_end(text), where, _TYPES)
    now, before = message.now, 0.0
    if now < 0.0:
        raise ProtocolError(f"{where}: now: got {now:.15g}, expected a date >= 0")
    for i, event in enumerate(message.events):
        time = event.timestamp
        if not before <= time <= now:
            raise ProtocolError(
                f"{where}: events[{i}].timestamp: got {time:.15g}, expected a date from "
                f"{before:.15g}, that of the event before it, to `now`, which is {now:.15g}"
                if i
                else f"{where}: events[0].timestamp: got {time:.15g}, "
                f"expected a date from 0 to `now`, which is {now:.15g}"
            )
        before = time
    return message


def refuse_binary(flags: int, reply: bytes, where: str) -> None:
    """Refuse a component that does not speak JSON, by the flags of its initialisation."""
    if not flags & 0x2:
        raise ProtocolError(
            f"{where}: got the flags {flags:#x}, and a hello that begins with {quoted(reply[:20])}:"
            " binary FlatBuffers, whose schema at the revision of Batsim 5.0-rc2 is not public; "
            "expected BATSIM_EDC_FORMAT_JSON (0x2)"
        )


def _without_end(text: bytes) -> bytes:
    """Remove the NUL that C strings end with."""
    return text.rstrip(b"\0") if text.endswith(b"\0") else text
