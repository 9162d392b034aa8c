"""The configuration file of a kube-scheduler, completed so that it finds the API.

With such a file kube-scheduler ignores most flags, so what they would say must stand in the file.
Files are YAML (or JSON, which is YAML): top-level keys that a file lacks are appended, and those it
has are completed, without reading the rest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from noctule.errors import InputError
from noctule.kube.session import Access

_ONE_BY_ONE = {"parallelism": 1}
_VERSION = "kubescheduler.config.k8s.io/v1"


def complete_config(
    path: Path | None, access: Access, name: str, *, is_repeatable: bool = False
) -> Path:
    """Write a copy of a configuration that knows the API; without a file, one for a scheduler name.

    A name of its own is only given to a scheduler whose user gave no file. One that shall decide
    the same each time looks at one node after the other, unless the file says otherwise: several
    threads find them in any order.
    """
    target = access.folder / f"scheduler-{name or 'config'}.yaml"
    client: dict[str, object] = {
        "kubeconfig": str(access.kubeconfig),
        "contentType": "application/json",
        "qps": 5000,
        "burst": 10000,
    }
    election: dict[str, object] = {"leaderElect": False}
    if path is None:
        made = {
            "apiVersion": _VERSION,
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": client,
            "leaderElection": election,
            "profiles": [{"schedulerName": name}],
            **(_ONE_BY_ONE if is_repeatable else {}),
        }
        target.write_text(json.dumps(made, indent=2))
        return target
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text"
        raise InputError(f"{path}: cannot be read: {reason}") from None
    if "KubeSchedulerConfiguration" not in text:
        raise InputError(f"{path}: expected a KubeSchedulerConfiguration")
    parts = {"clientConnection": client, "leaderElection": election}
    numbers = _ONE_BY_ONE if is_repeatable else {}
    target.write_text(_in_json(text, parts, numbers) or _in_yaml(text, parts, numbers))
    return target


def _in_json(
    text: str, parts: dict[str, dict[str, object]], numbers: Mapping[str, int]
) -> str | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        content = json.loads(text)
    except ValueError:
        return None
    content = {**numbers, **content}
    for key, values in parts.items():
        content[key] = values | (content.get(key) or {})
        content[key] |= {
            name: values[name] for name in ("kubeconfig", "leaderElect") if name in values
        }
    return json.dumps(content, indent=2)


def _in_yaml(text: str, parts: dict[str, dict[str, object]], numbers: Mapping[str, int]) -> str:
    for key, number in numbers.items():
        if not re.search(rf"^{key}:", text, re.MULTILINE):
            text = text.rstrip("\n") + f"\n{key}: {number}\n"
    for key, values in parts.items():
        opened = re.search(rf"^{key}:[ \t]*(#.*)?$\n?", text, re.MULTILINE)
        lines = [f"{name}: {json.dumps(value)}" for name, value in values.items()]
        if opened is None:
            text = text.rstrip("\n") + f"\n{key}:\n" + "".join(f"  {line}\n" for line in lines)
            continue
        block = re.match(r"(?:[ \t]+.*\n|[ \t]*#.*\n|\n)*", text[opened.end() :])
        inside = "" if block is None else block[0]
        indent = re.match(r"[ \t]*", inside.lstrip("\n"))
        spaces = indent[0] if indent and indent[0] else "  "
        forced = re.sub(r"^[ \t]+(kubeconfig|leaderElect):.*\n", "", inside, flags=re.MULTILINE)
        missing = [
            f"{spaces}{line}\n"
            for line in lines
            if not re.search(rf"^[ \t]+{line.partition(':')[0]}:", forced, re.MULTILINE)
        ]
        rest = text[opened.end() + len(inside) :]
        text = text[: opened.end()] + "".join(missing) + forced + rest
    return text
