"""The image and the services as they are written: clean, pinned, without rights and secrets."""

import json
import os
import re
import shutil
import subprocess
import tomllib

import pytest

from aml_servers.finding import registered
from tests.new.conftest import BIN, Project
from tests.package.conftest import UNREACHABLE
from tests.reference_servers.parts import (
    DOCKERFILE,
    INSTRUCTIONS,
    KEY,
    MEMORIES,
    ROOT,
    SERVERS,
    compose,
    context,
)

PATH = f"{BIN}{os.pathsep}{os.environ['PATH']}"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
BASES = [each.rest for each in INSTRUCTIONS if each.word == "FROM"]
RUNS = [each.rest for each in INSTRUCTIONS if each.word == "RUN"]
every_memory = pytest.mark.parametrize("memory", MEMORIES)


def only(word):
    (found,) = (each.rest for each in INSTRUCTIONS if each.word == word)
    return found


def services(memory):
    return compose(memory, {"AML_KEY": KEY})["services"]


def test_there_is_one_for_every_memory_of_ours():
    assert set(MEMORIES) <= set(registered())
    assert {memory for memory in registered() if memory in EXTRAS} == set(MEMORIES)


@pytest.mark.skipif(not shutil.which("hadolint", path=PATH), reason="needs hadolint")
def test_the_dockerfile_is_clean():
    ran = Project(SERVERS).run("hadolint", str(DOCKERFILE))
    assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize("step", RUNS)
def test_its_shell_is_clean(step, tmp_path):
    (tmp_path / "step.sh").write_text(f"#!/bin/sh\n{step}\n")
    ran = Project(tmp_path).run("shellcheck", "step.sh")
    assert ran.returncode == 0, ran.stdout


def test_the_image_is_pinned():
    base, *others = BASES
    assert re.fullmatch(r"python:\d+\.\d+\.\d+-\S+ AS python", base)
    assert {other.split()[0] for other in others} == {"python"}
    for run in RUNS:
        for step in run.split("&&"):
            if "install --" in step and ("pip" in step or "uv" in step):
                assert "--require-hashes" in step or "--no-deps dist/" in step, step
            assert "build" not in step.split() or "--require-hashes" in step, step


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["x86_64-manylinux_2_36", "aarch64-manylinux_2_36"])
@every_memory
def test_every_package_has_a_wheel_for_the_image(memory, platform, tmp_path):
    """What uv is told to install, resolved for the image's Python and its Debian's libc."""
    (install,) = re.findall(r"uv pip install (--require-hashes .*)", " ".join(RUNS[1].split()))
    python = re.match(r"python:(\d+\.\d+)", BASES[0])[1]
    arguments = services(memory)["memory"]["build"]["args"]
    place = f"--dry-run --target {tmp_path} --python-version {python} --python-platform {platform}"
    ran = Project(ROOT).run("sh", "-c", f"uv pip install {place} {install}", **arguments)
    if ran.returncode and UNREACHABLE.search(ran.stderr):
        pytest.skip("the package index cannot be reached")
    assert ran.returncode == 0, ran.stderr
    assert "Would install" in ran.stderr


def test_the_image_has_no_rights_and_no_secret():
    last = [each for each in INSTRUCTIONS if each.word in ("USER", "ENTRYPOINT", "COPY", "RUN")][
        -2:
    ]
    assert [each.word for each in last] == ["USER", "ENTRYPOINT"]
    assert last[0].rest not in ("0", "root")
    named = " ".join(each.rest for each in INSTRUCTIONS if each.word in ("ARG", "ENV"))
    assert not re.search(r"KEY|TOKEN|SECRET|PASSWORD", named, re.IGNORECASE)


def test_the_image_keeps_its_data_in_a_volume_and_tells_its_health():
    start = json.loads(only("ENTRYPOINT"))[2]
    assert f"--data {only('VOLUME')} " in start
    assert f"--port {only('EXPOSE')} " in start
    assert f":{only('EXPOSE')}/health" in only("HEALTHCHECK")


def test_docker_is_given_what_the_wheel_is_made_of_and_nothing_else():
    given = {str(path) for path in context()}
    assert {"pyproject.toml", "requirements.lock", "README.md", "LICENSE"} <= given
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, check=True, text=True
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    wanted = [line for line in tracked.stdout.splitlines() if line.startswith(tuple(packages))]
    assert set(wanted) <= given
    assert not [path for path in given if "__pycache__" in path or path.endswith(".env")]
    assert {path.split("/")[0] for path in given if "/" in path} == {
        package.split("/")[0] for package in packages
    }


@every_memory
def test_the_key_file_is_not_for_git(memory):
    file = SERVERS / memory / ".env"
    assert (
        subprocess.run(["git", "check-ignore", "-q", file], cwd=ROOT, check=False).returncode == 0
    )


@every_memory
def test_compose_files_keep_to_the_schema(memory):
    file = str(SERVERS / memory / "compose.yaml")
    ran = Project(SERVERS).run("check-jsonschema", "--builtin-schema", "vendor.compose-spec", file)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@every_memory
def test_a_service_is_of_its_memory_and_has_its_extras(memory):
    service = services(memory)["memory"]
    build = service["build"]
    assert (SERVERS / memory / build["context"]).resolve() == ROOT
    assert ROOT / build["dockerfile"] == DOCKERFILE
    assert build["args"].pop("MEMORY") == memory
    assert set(build["args"].values()) <= EXTRAS.keys()
    assert compose(memory, {"AML_KEY": KEY})["name"] == service["image"] == f"aml-{memory}"


@every_memory
def test_a_service_does_not_start_without_a_key(memory):
    with pytest.raises(LookupError, match="write a key"):
        compose(memory, {})
    assert services(memory)["memory"]["environment"]["AML_KEY"] == KEY


@every_memory
def test_a_service_is_guarded_and_outlives_its_container(memory):
    project = compose(memory, {"AML_KEY": KEY})
    for service in project["services"].values():
        assert service["read_only"]
        assert service["tmpfs"] == ["/tmp"]
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["restart"] == "unless-stopped"
        assert service["deploy"]["resources"].keys() == {"limits", "reservations"}
        (volume,) = service["volumes"]
        name, _, place = volume.partition(":")
        assert name in project["volumes"]
        assert place == only("VOLUME")
        for port in service.get("ports", ()):
            assert re.fullmatch(rf"127\.0\.0\.1:\d+:{only('EXPOSE')}", port)


@every_memory
def test_a_service_that_is_not_the_memory_is_asked_how_it_is(memory):
    """The memory's own check is the image's."""
    for name, service in services(memory).items():
        assert ("healthcheck" in service) == ("entrypoint" in service) == (name != "memory")
        for needed, condition in service.get("depends_on", {}).items():
            assert condition == {"condition": "service_healthy"}
            assert needed in services(memory)
