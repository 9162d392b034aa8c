"""What a scheduler of Batsim 4 replies, as checked structs.

A reply is decoded into the types of its events in one go; only when that fails is it looked at
again, to say where and what was wrong. Fields are refused that Batsim refuses; those that it
ignores are ignored.
"""

from __future__ import annotations

from typing import Any

import msgspec

from noctule.errors import ProtocolError
from noctule.remote.reply_decoding import decoded


class _Data(msgspec.Struct, gc=False):
    """Data of an event in which Batsim ignores what it does not know."""


class _ExactData(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """Data of an event of which Batsim counts the fields."""


class IoJob(_ExactData):
    """A task that only moves data, and is a part of the job it is started with."""

    alloc: str
    profile_name: str
    profile: dict[str, Any] | None = None


class ExecuteData(_ExactData):
    job_id: str
    alloc: str
    mapping: dict[int, int | str] | None = None
    storage_mapping: dict[str, int | str] | None = None
    additional_io_job: IoJob | None = None


class RejectData(_ExactData):
    job_id: str


class KillData(_ExactData):
    job_ids: list[str]


class CallData(_ExactData):
    timestamp: float


class RegisterProfileData(_Data):
    workload_name: str
    profile_name: str
    profile: dict[str, Any]


class RegisterJobData(_Data):
    job_id: str
    job: dict[str, Any]


class ResourceStateData(_ExactData):
    resources: str
    state: int | str


class MetadataData(_ExactData):
    job_id: str
    metadata: str


class JobStateData(_Data):
    job_id: str
    job_state: str


class ToJobData(_Data):
    job_id: str
    msg: str


class QueryData(_ExactData):
    requests: dict[str, dict[str, Any]]


class AnswerData(_Data):
    pass


class NotifyData(_Data):
    type: str


class _Event(msgspec.Struct, gc=False, tag_field="type"):
    timestamp: float


class ExecuteJob(_Event, tag="EXECUTE_JOB"):
    data: ExecuteData


class RejectJob(_Event, tag="REJECT_JOB"):
    data: RejectData


class KillJob(_Event, tag="KILL_JOB"):
    data: KillData


class CallMeLater(_Event, tag="CALL_ME_LATER"):
    data: CallData


class RegisterProfile(_Event, tag="REGISTER_PROFILE"):
    data: RegisterProfileData


class RegisterJob(_Event, tag="REGISTER_JOB"):
    data: RegisterJobData


class SetResourceState(_Event, tag="SET_RESOURCE_STATE"):
    data: ResourceStateData


class SetJobMetadata(_Event, tag="SET_JOB_METADATA"):
    data: MetadataData


class ChangeJobState(_Event, tag="CHANGE_JOB_STATE"):
    data: JobStateData


class ToJobMessage(_Event, tag="TO_JOB_MSG"):
    data: ToJobData


class Query(_Event, tag="QUERY"):
    data: QueryData


class Answer(_Event, tag="ANSWER"):
    data: AnswerData


class Notify(_Event, tag="NOTIFY"):
    data: NotifyData


#: Any event of a reply.
ReplyEvent = (
    ExecuteJob
    | RejectJob
    | KillJob
    | CallMeLater
    | RegisterProfile
    | RegisterJob
    | SetResourceState
    | SetJobMetadata
    | ChangeJobState
    | ToJobMessage
    | Query
    | Answer
    | Notify
)


class Reply(msgspec.Struct, gc=False):
    """What a scheduler decided, and when it is ready again."""

    now: float
    events: list[ReplyEvent]


_decode = msgspec.json.Decoder(Reply).decode
_KNOWN = (
    "EXECUTE_JOB, REJECT_JOB, KILL_JOB, CALL_ME_LATER, REGISTER_PROFILE, REGISTER_JOB, "
    "SET_RESOURCE_STATE, SET_JOB_METADATA, CHANGE_JOB_STATE, TO_JOB_MSG, QUERY, ANSWER, NOTIFY"
)


def read_reply(text: bytes, where: str) -> Reply:
    """Decode a reply and check its dates; `where` begins the sentences about what is wrong."""
    reply = decoded(_decode, text, where, ("].type", _KNOWN))
    now = reply.now
    for i, event in enumerate(reply.events):
        if not 0.0 <= event.timestamp <= now:
            raise ProtocolError(
                f"{where}: events[{i}].timestamp: got {event.timestamp:.15g}, "
                f"expected a date from 0 to `now`, which is {now:.15g}"
            )
    if now < 0.0:
        raise ProtocolError(f"{where}: now: got {now:.15g}, expected a date >= 0")
    return reply
