"""The SDK's server beside a bare one, in turns, both as busy as one client can make them."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

from aml_contract.smoke.run import TOP_K
from aml_sdk import AddRequest, SearchRequest
from benchmarks.measuring.bare import APPS, SOMEBODY
from benchmarks.measuring.client import Client, Until
from benchmarks.measuring.serving import Served, running_bare
from benchmarks.measuring.talk import USER, body, much, small

IN_FLIGHT = 16
MESSAGES = 20
_SCRIPT = Path(__file__).with_name("post.lua")

WORKLOADS: dict[str, tuple[str, AddRequest | SearchRequest]] = {
    "Add of 20 messages": (
        "/add",
        AddRequest(
            request_id="REQUEST",
            user_id=USER,
            session_id="session",
            messages=[each for add in much(small(), USER, 0, MESSAGES) for each in add.messages],
        ),
    ),
    "Search that finds nothing": (
        "/search",
        SearchRequest(query="Where does Caroline live now?", user_id=USER, top_k=TOP_K),
    ),
    "Search that finds 100": (
        "/search",
        SearchRequest(query="Where does Caroline live now?", user_id=SOMEBODY, top_k=TOP_K),
    ),
}
"""What is sent, and where to."""


def client() -> str:
    """What sends: wrk, or where it is missing aiohttp, which is busier than the servers."""
    return "wrk" if shutil.which("wrk") else "aiohttp"


def rivalry(workload: str, rounds: int, seconds: float) -> dict[str, Any]:
    """Requests of one workload to each server in turns, 16 in flight.

    Returns:
        For each server of :data:`~benchmarks.measuring.bare.APPS` a list of rounds, each with
        ``rate``, requests answered in a second, and ``cpu``, seconds of the server's for one;
        and the ``client``.
    """
    path, request = WORKLOADS[workload]
    made: dict[str, Any] = {app: [] for app in APPS}
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        text = root / "body.json"
        text.write_bytes(body(request))
        servers = {app: stack.enter_context(running_bare(app, root / f"{app}.log")) for app in APPS}
        names = list(APPS)
        for number in range(-1, rounds):
            # Each comes first in its turn. The round before the first only warms.
            shift = number % len(names)
            for app in names[shift:] + names[:shift]:
                sent = _sent(servers[app], path, text, f"{app}-{number}-", seconds)
                if number >= 0:
                    made[app].append(sent)
    return {**made, "client": client()}


def _sent(server: Served, path: str, text: Path, name: str, seconds: float) -> dict[str, float]:
    cpu = server.cpu
    if client() == "wrk":
        requests, took = _by_wrk(server.url + path, text, name, seconds)
    else:
        with Client(server.url) as sender:
            bodies = _bodies(text.read_bytes(), name)
            load = sender.load(path, bodies, IN_FLIGHT, Until(most=10**9, seconds=seconds))
        requests, took = len(load.latencies), load.seconds
    return {"rate": requests / took, "cpu": (server.cpu - cpu) / requests}


def _by_wrk(url: str, text: Path, name: str, seconds: float) -> tuple[int, float]:
    load = ["-t1", f"-c{IN_FLIGHT}", f"-d{seconds:.0f}s"]
    words = ["wrk", *load, "-s", str(_SCRIPT), url, "--", str(text), name]
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    told = json.loads(ran.stdout.strip().splitlines()[-1])
    if told["failed"]:
        raise RuntimeError(f"{told['failed']} requests of {told['requests']} to {url} failed")
    return told["requests"], told["microseconds"] / 1e6


def _bodies(text: bytes, name: str) -> Iterator[bytes]:
    return (text.replace(b"REQUEST", f"{name}{number}".encode()) for number in count())
