"""A decision component of Batsim 5 in a process of its own, with nothing but pyzmq.

    python fcfs.py ENDPOINT [die | hang]

It runs one job at a time on the first hosts. With `die` or `hang` it does so when the first job has
ended.
"""

from __future__ import annotations

import json
import struct
import sys
import time

import zmq

HELLO = {
    "timestamp": 0.0,
    "event_type": "EDCHelloEvent",
    "event": {"decision_component_name": "fcfs.py", "requested_simulation_features": {}},
}


def main(endpoint: str, end: str = "") -> None:
    with zmq.Context() as context, context.socket(zmq.REP) as socket:
        socket.bind(endpoint)
        socket.recv()
        hello = json.dumps({"now": 0.0, "events": [HELLO]}).encode()
        socket.send(struct.pack("=I", 2) + hello)
        queue, is_busy, is_over = [], False, False
        while not is_over:
            message = json.loads(socket.recv().rstrip(b"\0"))
            for event in message["events"]:
                kind, data = event["event_type"], event["event"]
                if kind == "JobSubmittedEvent":
                    queue.append((data["job_id"], data["job"]["resource_request"]))
                elif kind == "JobCompletedEvent":
                    is_busy = False
                    if end == "die":
                        sys.exit(1)
                    time.sleep(60 if end == "hang" else 0)
                is_over = is_over or kind == "SimulationEndsEvent"
            now, events = message["now"], []
            if queue and not is_busy:
                job_id, n = queue.pop(0)
                allocation = {"host_allocation": f"0-{n - 1}"}
                execute = {"job_id": job_id, "allocation": allocation}
                events.append({"timestamp": now, "event_type": "ExecuteJobEvent", "event": execute})
                is_busy = True
            socket.send(json.dumps({"now": now, "events": events}).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
