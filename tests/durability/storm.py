"""``kill -9`` a serving memory at random moments, under load, many times.

Clients deliver Adds as the platform does: serially per user, each again and again until it is
acknowledged. After every kill and at the end each acknowledged message must be found, once.
Run it by ``scripts/killstorm``.
"""

import asyncio
import os
import random
import signal
import sys
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import httpx
import typer

WORDS = ("harbour", "lantern", "quartz", "meadow", "violin", "cinder", "walnut", "ferry", "copper")

PAUSE = 0.1
"""Seconds between two Adds of a client: verifying costs more than adding."""


@dataclass
class Counts:
    """What a storm saw; ``lost`` and ``doubled`` name the messages."""

    kills: int = 0
    acknowledged: int = 0
    cut_off: int = 0
    verified: int = 0
    lost: set[str] = field(default_factory=set)
    doubled: set[str] = field(default_factory=set)

    def __str__(self):
        return (
            f"{self.kills} kills, {self.acknowledged} Adds acknowledged, "
            f"{self.cut_off} cut off and delivered again, "
            f"{self.verified} messages verified: {len(self.lost)} lost, {len(self.doubled)} doubled"
        )


class ServerError(Exception):
    """The server did not start, or answered what is never tried again."""


class Serving:
    """``aml serve`` in a process group of its own."""

    def __init__(self, system, data_dir, *, cwd=None):
        self._command = [sys.executable, "-m", "aml_cli.main", "serve", system]
        self._command += ["--port", "0", "--data", str(data_dir)]
        self._cwd = cwd
        self.log = Path(f"{data_dir}.log")
        self.up = asyncio.Event()
        self.url = ""

    async def start(self):
        """Start, and wait until it says that it serves."""
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                cwd=self._cwd,
            )
        line = (await self._process.stdout.readline()).decode()
        if not line.startswith("serving "):
            words = self.log.read_text()[-2000:]
            raise ServerError(f"{' '.join(self._command)} did not start: {words}")
        self.url = line.split(" on ", 1)[1].split(" ", 1)[0]
        self.up.set()

    async def stop(self, how=signal.SIGKILL):
        """Kill the whole group, and wait for its end."""
        self.up.clear()
        if self._process.returncode is None:
            os.killpg(self._process.pid, how)
        await self._process.wait()

    async def post(self, client, path, body):
        """The answer, sent again until there is one (clauses F, F1); and how often it was cut."""
        cut = 0
        while True:
            await self.up.wait()
            try:
                answer = await client.post(self.url + path, json=body)
            except httpx.TransportError:
                cut += 1
                await asyncio.sleep(0.02)
                continue
            if answer.status_code == 200:
                return answer.json(), cut
            if answer.status_code not in (408, 409, 425, 429, 500, 502, 503, 504):
                raise ServerError(f"{path} answered {answer.status_code}: {answer.text[:300]}")
            await asyncio.sleep(0.05)


class Storm:
    """One storm over one data directory."""

    def __init__(self, system, data_dir, *, kills, users=16, window=1.0, seed=0, cwd=None):
        self.serving = Serving(system, data_dir, cwd=cwd)
        self.counts = Counts()
        self._kills = kills
        self._users = users
        self._window = window
        self._random = random.Random(seed)
        self._over = False
        self._calm = asyncio.Event()  # set while clients may begin another Add
        self._acknowledged = []  # (user, text), in the order of their acknowledgement

    async def run(self, *, report=lambda counts: None):
        """All kills, then everything that was acknowledged once more."""
        await self.serving.start()
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(self._users):
                    group.create_task(self._deliver(f"eval:storm:conv-{number}"))
                await self._kill(report)
                self._over = True
                self._calm.set()
            await self._verify(self._acknowledged)
        finally:
            await self.serving.stop()
        self.counts.verified = len(self._acknowledged)
        return self.counts

    async def _kill(self, report):
        checked = 0
        for _ in range(self._kills):
            self._calm.set()
            await asyncio.sleep(self._random.uniform(0.02, self._window))
            await self.serving.stop()
            self.counts.kills += 1
            self._calm.clear()
            before = len(self._acknowledged)
            await self.serving.start()
            await self._verify(self._acknowledged[checked:before])
            checked = before
            report(self.counts)

    async def _deliver(self, user):
        chunk = 0
        async with client() as http:
            while not self._over:
                texts = [self._text(user, chunk, turn) for turn in range(self._turns())]
                body = {
                    "request_id": f"{user}:chunk-{chunk}",
                    "user_id": user,
                    "session_id": "s",
                    "messages": [{"role": "user", "content": text} for text in texts],
                }
                answer, cut = await self.serving.post(http, "/add", body)
                if answer.get("success") is not True or answer.get("user_id") != user:
                    raise ServerError(f"an Add was answered {answer}")
                self.counts.cut_off += cut
                self.counts.acknowledged += 1
                self._acknowledged += [(user, text) for text in texts]
                chunk += 1
                await asyncio.sleep(PAUSE)
                await self._calm.wait()

    async def _verify(self, messages):
        """Each message is contained in exactly one item of the answer to its own words."""
        turns = asyncio.Semaphore(16)

        async def verify(http, user, text):
            async with turns:
                query = {"query": text, "user_id": user, "top_k": 100}
                found, _ = await self.serving.post(http, "/search", query)
            times = sum(text in item["content"] for item in found["data"])
            if times == 0:
                self.counts.lost.add(text)
            elif times > 1:
                self.counts.doubled.add(text)

        async with client() as http, asyncio.TaskGroup() as group:
            for user, text in messages:
                group.create_task(verify(http, user, text))

    def _turns(self):
        return self._random.choice((1, 2, 5, 20))

    def _text(self, user, chunk, turn):
        """A sentence whose first word exists nowhere else."""
        name = f"q{user.rsplit('-', 1)[1]}x{chunk}x{turn}"
        return f"{name} {' '.join(self._random.choices(WORDS, k=12))}."


@asynccontextmanager
async def client():
    """Ignores proxies; an Add may wait for a restart."""
    async with httpx.AsyncClient(timeout=120, trust_env=False) as made:
        yield made


def main(
    system: Annotated[str, typer.Option(help="A registered memory, or pkg.mod:Class.")] = "hybrid",
    kills: Annotated[int, typer.Option(min=1)] = 100,
    users: Annotated[int, typer.Option(min=1, help="Clients that add at once.")] = 16,
    window: Annotated[float, typer.Option(help="Seconds in which the kill comes.")] = 1.0,
    seed: int = 0,
) -> None:
    """Kill a serving memory at random moments; exit 1 if an acknowledged message suffered."""

    def report(counts):
        typer.echo(f"\r{counts}", nl=False, err=True)

    with tempfile.TemporaryDirectory(prefix="killstorm-") as directory:
        storm = Storm(
            system, Path(directory) / "data", kills=kills, users=users, window=window, seed=seed
        )
        counts = asyncio.run(storm.run(report=report))
    typer.echo("", err=True)
    typer.echo(counts)
    for what in ("lost", "doubled"):
        for text in sorted(getattr(counts, what))[:10]:
            typer.echo(f"{what}: {text}", err=True)
    raise typer.Exit(1 if counts.lost or counts.doubled else 0)


if __name__ == "__main__":
    typer.run(main)
