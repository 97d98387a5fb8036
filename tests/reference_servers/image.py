"""The image without an engine: the steps of its Dockerfile in plain directories.

Its places /aml, /build and /data are directories below one of ours. Its `useradd` is left out,
which is not for a machine that runs tests: processes are given the user's number.
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import string
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.new.conftest import Project
from tests.package.conftest import UNREACHABLE
from tests.reference_servers.parts import INSTRUCTIONS, ROOT, context
from tests.servers import eventually, in_process

_PLACE = re.compile(r"(?<![\w.-])/(aml|build)\b")


@dataclass
class Image:
    """What the Dockerfile makes, and how it is run."""

    root: Path
    rights: dict
    """The user, as :class:`subprocess.Popen` takes it; empty where only root may change users."""
    environment: dict = field(default_factory=dict)
    entrypoint: list = field(default_factory=list)
    probe: list = field(default_factory=list)

    def volume(self, name):
        """A new volume, which belongs to the image's user."""
        made = self.root / "volumes" / name
        made.mkdir(parents=True)
        if self.rights:
            os.chown(made, self.rights["user"], self.rights["group"])
        return made

    def run(self, words, environment, volume, **given):
        """Run a command to its end, the volume at /data."""
        return subprocess.run(
            [word.replace("/data", str(volume)) for word in words],
            cwd=self.root / "empty",
            env={**self.environment, **environment},
            capture_output=True,
            timeout=240,
            check=False,
            **self.rights,
            **given,
        )

    @contextlib.contextmanager
    def start(self, words, environment, volume, probe):
        """A container on a free port: healthy when the block begins, killed when it ends."""
        port = re.search(r":(\d+)/", probe[-1])[1]
        words = [word.replace("/data", str(volume)).replace(port, "{port}") for word in words]
        whole = {**self.environment, **environment}
        with in_process(words, cwd=self.root / "empty", env=whole, **self.rights) as server:
            asked = [word.replace(port, str(server.port)) for word in probe]
            eventually(lambda: self.run(asked, environment, volume).returncode == 0, seconds=60)
            yield server


def build(root, arguments):
    """Carry the Dockerfile out below ``root``, which every user may enter."""
    python, rights = _anyones_python()
    image = Image(root, rights)
    subprocess.run([python, "-m", "venv", str(root / "python")], check=True)
    outside = Project(root, root / "python/bin").environment  # with the settings of pip and uv
    base = {"PATH": f"{root}/python/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    variables, directory = {}, root
    for each in INSTRUCTIONS:
        rest = _PLACE.sub(rf"{root}/\1", each.rest)
        match each.word:
            case "FROM":
                variables = dict(base)
            case "ARG":
                name, _, default = rest.partition("=")
                variables[name] = arguments.get(name, default)
            case "ENV":
                for name, value in (word.split("=", 1) for word in shlex.split(rest)):
                    variables[name] = string.Template(value).substitute(variables)
            case "WORKDIR":
                directory = Path(rest)
                directory.mkdir()
            case "COPY" if "--from" not in rest:
                _copy(shlex.split(rest)[:-1], directory)
            case "RUN" if "useradd" not in rest:
                _shell(rest, directory, {**outside, **variables})
            case "HEALTHCHECK":
                image.probe = json.loads(rest.partition("CMD ")[2])
            case "ENTRYPOINT":
                image.entrypoint = json.loads(rest)
    image.environment = {**variables, "HOME": "/home/memory"}  # which `useradd --system` names only
    shutil.rmtree(root / "build")  # of that stage nothing is kept but /aml
    (root / "empty").mkdir()
    return image


def _anyones_python():
    """A Python that the image's user can run, and that user's rights.

    One in the home directory of root is of no use to others. Without any, and for whoever is not
    root, it is the Python of the tests, without change of user.
    """
    (number,) = (int(each.rest) for each in INSTRUCTIONS if each.word == "USER")
    rights = {"user": number, "group": number, "extra_groups": []}
    known = [sys.executable, *(f"/usr/bin/python3.{minor}" for minor in (13, 12, 11))]
    for python in known if os.geteuid() == 0 else ():
        words = [os.path.realpath(python), "-Ic", "import ensurepip"]
        with contextlib.suppress(OSError):
            if subprocess.run(words, cwd="/", check=False, **rights).returncode == 0:
                return words[0], rights
    return sys.executable, {}


def _copy(sources, directory):
    for path in context():
        if "." in sources or str(path) in sources:
            (directory / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, directory / path)


def _shell(script, directory, environment):
    ran = subprocess.run(
        ["sh", "-ec", script],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    if ran.returncode and UNREACHABLE.search(ran.stderr):
        pytest.skip("the package index cannot be reached")
    assert ran.returncode == 0, ran.stderr
