"""The page on reference servers: its commands that need no engine, and what the others name."""

import re
import shlex
import shutil

import pytest

from tests.new.conftest import Project
from tests.reference_servers.parts import DOCKERFILE, KEY, MEMORIES, SERVERS, console, settings

SERVE = "aml serve hybrid --port {port} --data served --auth bearer --key-env AML_KEY"


def only(start):
    (found,) = {line for line in console() if line.startswith(start)}
    return found


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl")
@pytest.mark.parametrize("memory", MEMORIES)
def test_the_first_command_makes_settings_with_a_key(memory, tmp_path):
    shutil.copy(SERVERS / memory / ".env.example", tmp_path)
    ran = Project(tmp_path).run("sh", "-c", only("sed "))
    assert ran.returncode == 0, ran.stderr
    made = settings((tmp_path / ".env").read_text())
    assert re.fullmatch(r"[0-9a-f]{64}", made.pop("AML_KEY"))
    assert made == {}, "all others are commented out"


def test_the_check_finds_the_key(tmp_path):
    (tmp_path / ".env").write_text(f"AML_KEY={KEY}\n")
    project = Project(tmp_path)
    with project.start(shlex.split(SERVE), AML_KEY=KEY) as server:
        command = only("env ").replace("http://127.0.0.1:8080", server.url)
        ran = project.run("sh", "-c", f"{command} --only echo")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_what_docker_is_told_is_there():
    build, run = (shlex.split(only(f"docker {word}")) for word in ("build", "run"))
    assert SERVERS.parent / build[build.index("--file") + 1] == DOCKERFILE
    assert build[build.index("--build-arg") + 1].removeprefix("MEMORY=") in MEMORIES
    assert build[build.index("--tag") + 1] == run[-1]
    assert (SERVERS.parent / run[run.index("--env-file") + 1]).parent.name in MEMORIES
