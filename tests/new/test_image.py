"""The image of a new project: clean, and its steps do what they say without an engine."""

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from tests.new.conftest import BIN, Project, made_by
from tests.new.steps import dockerfile
from tests.package.conftest import UNREACHABLE
from tests.package.conftest import wheel as wheel  # noqa: PLC0414  a fixture

KEY = "k-image"
PATH = f"{BIN}{os.pathsep}{os.environ['PATH']}"


def only(instructions, word):
    (found,) = (each for each in instructions if each.word == word)
    return found


def probe_of(instructions, port):
    words = json.loads(only(instructions, "HEALTHCHECK").rest.partition("CMD ")[2])
    return [word.replace("127.0.0.1:8080", f"127.0.0.1:{port}") for word in words]


def start_of(instructions):
    """What the image runs, on any port and in a directory of ours."""
    return [{"8080": "{port}", "/data": "data"}.get(w, w) for w in only(instructions, "CMD").words]


def judge_running(project, instructions):
    """Health is open, Add and Search want the key, and the port is the published one."""
    assert only(instructions, "EXPOSE").rest in only(instructions, "CMD").words
    with project.start(start_of(instructions), AML_KEY=KEY) as server:
        assert project.run(*probe_of(instructions, server.port)).returncode == 0
        for path in ("add", "search"):
            with pytest.raises(urllib.error.HTTPError, match="401"):
                urllib.request.urlopen(f"{server.url}/{path}", data=b"{}")


@pytest.mark.skipif(not shutil.which("hadolint", path=PATH), reason="needs hadolint")
def test_it_is_clean(project):
    ran = project.run("hadolint", "Dockerfile")
    assert ran.returncode == 0, ran.stdout


def test_it_is_pinned_and_runs_without_rights(project):
    instructions = dockerfile(project.home / "Dockerfile")
    assert re.fullmatch(r"python:\d+\.\d+\.\d+-\S+", only(instructions, "FROM").rest)
    assert only(instructions, "USER").rest not in ("0", "root")


def test_it_does_not_start_without_a_key(project):
    words = [
        word.replace("{port}", "0") for word in start_of(dockerfile(project.home / "Dockerfile"))
    ]
    ran = project.run(*words)
    assert ran.returncode == 2
    assert "AML_KEY" in ran.stderr


def test_it_serves(project):
    judge_running(project, dockerfile(project.home / "Dockerfile"))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.xdist_group("package")
def test_its_steps_from_first_to_last(wheel, tmp_path):
    """Copied and installed as the Dockerfile says, into a plain directory.

    Left out is the one step that makes a user, which is not for a machine that runs tests.
    """
    source = made_by(BIN, tmp_path).home
    shutil.copy(wheel, source / "wheels")
    app = tmp_path / "app"
    app.mkdir()
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    image = Project(app, tmp_path / "venv" / "bin")
    instructions = dockerfile(source / "Dockerfile")
    for each in instructions:
        if each.word == "COPY":
            *copied, place = each.words
            for name in copied:
                if (source / name).is_dir():
                    shutil.copytree(source / name, app / place)
                else:
                    shutil.copy(source / name, app / place)
        elif each.word == "RUN" and "useradd" not in each.rest:
            ran = image.run("sh", "-ec", each.rest, timeout=600)
            if ran.returncode and UNREACHABLE.search(ran.stderr):
                pytest.skip("the package index cannot be reached")
            assert ran.returncode == 0, ran.stderr
    pinned = (app / "constraints.txt").read_text().splitlines()
    assert set(image.run("pip", "freeze").stdout.split()) & set(pinned)
    judge_running(image, instructions)
