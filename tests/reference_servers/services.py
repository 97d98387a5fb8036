"""Services without Compose: their commands as processes, with the volumes as directories."""

import contextlib
import re
from dataclasses import dataclass, field

from tests.reference_servers.image import Image
from tests.reference_servers.parts import compose, settings


@dataclass
class Services:
    """A compose file with its .env, and volumes of its own."""

    image: Image
    memory: str
    env: str
    """The text of .env."""
    name: str
    volumes: dict = field(init=False)

    def __post_init__(self):
        names = self._file["volumes"]
        self.volumes = {name: self.image.volume(f"{self.name}-{name}") for name in names}

    @property
    def _file(self):
        return compose(self.memory, settings(self.env))

    @contextlib.contextmanager
    def up(self, *names):
        """``docker compose up``: these services and those that they wait for, by name.

        In the end all are killed.
        """
        with contextlib.ExitStack() as stack:
            running = {}
            for name in self._in_order(names):
                service = self._file["services"][name]
                probe = service.get("healthcheck", {}).get("test", ["CMD", *self.image.probe])
                words = [*service.get("entrypoint", self.image.entrypoint)]
                started = self.image.start(
                    words + service.get("command", []),
                    self._environment(name, running),
                    self._volume(name),
                    probe[1:],
                )
                running[name] = stack.enter_context(started)
            yield running

    def run(self, name, words, *, deps=True, **given):
        """``docker compose run``: a command in place of a service's own."""
        needed = self._file["services"][name].get("depends_on", ()) if deps else ()
        with self.up(*needed) as running:
            environment = self._environment(name, running)
            return self.image.run(words, environment, self._volume(name), **given)

    def _in_order(self, names):
        for name in names:
            yield from self._in_order(self._file["services"][name].get("depends_on", ()))
            yield name

    def _environment(self, name, running):
        """The service's variables; what names a service that runs is where that one is."""
        service = self._file["services"][name]
        own = dict(service.get("environment", {}))
        for other, server in running.items():
            for variable, value in own.items():
                placed = re.sub(rf"\b{other}:\d+", f"127.0.0.1:{server.port}", value)
                own[variable] = re.sub(rf"\b{other}\b", "127.0.0.1", placed)
        return {**(settings(self.env) if "env_file" in service else {}), **own}

    def _volume(self, name):
        (volume,) = self._file["services"][name]["volumes"]
        return self.volumes[volume.partition(":")[0]]
