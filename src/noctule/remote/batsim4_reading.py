"""What a scheduler of Batsim 4 replies, as checked structs.

A reply is decoded into the types of its events in one go; only when that fails is it looked at
again, to say where and what was wrong. Fields are refused that Batsim refuses; those that it
ignores are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from noctule.errors import ProtocolError
from noctule.formats.json_object import shown_json

_LONGEST_QUOTE = 60


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
_WORDS = {
    "float": "a number",
    "int": "a whole number",
    "str": "a text",
    "object": "an object",
    "array": "an array",
    "bool": "true or false",
    "null": "nothing",
}


def read_reply(text: bytes, where: str) -> Reply:
    """Decode a reply and check its dates; `where` begins the sentences about what is wrong."""
    try:
        reply = _decode(text)
    except msgspec.ValidationError as error:
        raise ProtocolError(f"{where}: {_misfit(text, str(error))}") from None
    except msgspec.DecodeError as error:
        raise ProtocolError(f"{where}: {_malformed(text, str(error))}") from None
    except UnicodeDecodeError as error:
        raise ProtocolError(f"{where}: {_not_text(text, error)}") from None
    except RecursionError:
        raise ProtocolError(
            f"{where}: got {quoted(text)}, which is nested too deeply, expected a reply"
        ) from None
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


def quoted(text: bytes, at: int = 0) -> str:
    """Show a few characters of a text, from a position on."""
    start = max(0, at - _LONGEST_QUOTE // 2) if at else 0
    piece = text[start : start + _LONGEST_QUOTE].decode("utf-8", "backslashreplace")
    before = "..." if start else ""
    after = "..." if start + _LONGEST_QUOTE < len(text) else ""
    return f"{before}{piece!r}{after}" if piece else "nothing"


def _malformed(text: bytes, message: str) -> str:
    if "truncated" in message:
        if not text.strip():
            return "got nothing, expected a reply"
        end = quoted(text, len(text))
        return f"got {len(text)} bytes that end with {end}, expected all of a reply"
    match = re.fullmatch(r"JSON is malformed: (.*) \(byte (\d+)\)", message)
    if match is None:
        return f"got {quoted(text)}, which is no JSON: {message}"
    at = int(match[2])
    return f"got {quoted(text, at)}, which is no JSON: {match[1]} (byte {at})"


def _not_text(text: bytes, error: UnicodeDecodeError) -> str:
    at = text.find(error.object[: error.end]) + error.start
    return f"got {quoted(text, max(at, 0))}, which is not UTF-8"


def _misfit(text: bytes, message: str) -> str:
    """Say what is wrong with a part of the reply, and show it."""
    problem, _, path = message.partition(" - at ")
    is_key = path.startswith("`key`")
    path = path.replace("`key` in ", "").replace("`", "").removeprefix("$").removeprefix(".")
    found = _found(text, path)
    where = f"{path}: " if path else ""
    unknown = re.fullmatch("Object contains unknown field `(.*)`", problem, re.DOTALL)
    missing = re.fullmatch("Object missing required field `(.*)`", problem, re.DOTALL)
    wanted = re.match("Expected `(.*?)`", problem)
    if unknown:
        expected = f"no field `{unknown[1]}` in it"
    elif missing:
        expected = f"a field `{missing[1]}` in it"
    elif path.endswith("].type"):
        expected = f"one of {_KNOWN}"
    elif "out of range" in problem:
        expected = "a number of a usual size"
    elif wanted:
        names = [_WORDS.get(name.strip(), name.strip()) for name in wanted[1].split("|")]
        expected = " or ".join(name for name in names if name != "nothing")
        expected += " as each key" if is_key else ""
    else:
        expected = f"another one: {problem[:1].lower()}{problem[1:]}"
    return f"{where}got {found}, expected {expected}"


def _found(text: bytes, path: str) -> str:
    """Show the part of a reply that stands at a path such as events[3].data."""
    try:
        part = msgspec.json.decode(text)
        for key, index in re.findall(r"([^.\[\]]+)|\[(\d+|\.\.\.)\]", path):
            if index == "...":
                break
            part = part[int(index)] if index else part[key]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, LookupError, TypeError):
        return quoted(text)
    return shown_json(part) if not isinstance(part, dict | list) else _shown_whole(part)


def _shown_whole(part: Mapping[str, Any] | list[Any]) -> str:
    return quoted(msgspec.json.encode(part)).strip("'")
