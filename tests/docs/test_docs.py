"""What the documentation says is done here, and must come out as it says."""

import ast
import asyncio
import inspect
import re
import shlex
import shutil
import signal
import sys

import pytest

from sitegen.site import made_pages
from tests.docs import command_tables, tables
from tests.docs.pages import PAGES, ROOT, anchors, blocks, commands, links, programs, snippets

ELSEWHERE = (
    "aml drift",
    "aml init",
    "aml keys",
    "aml matrix",
    "aml verify",
    "scripts/",
    "pip install",
    "pip wheel",
    "PYTHON=",
    "python benchmarks/",
    "python -m benchmarks.",
)
"""Commands that other tests or CI run."""
DOCS = ROOT / "docs"
MADE = made_pages()
CHECKS = " --only echo"
"""Enough to see that a documented way to name an endpoint works."""


def runnable(kind):
    found = [(w, c) for w, c in commands() if c.startswith(kind)]
    return [pytest.param(command, id=where) for where, command in found]


@pytest.fixture
def certifying(reader):
    """Certifies what the documentation's file declares, on a server that the kit starts."""
    (declared,) = {b.text for b in blocks() if b.text.startswith("# endpoint.toml\n")}
    file = "[endpoint]\nsystem = 'my_memory:MyMemory'\n\n[declaration]"
    config = file + declared.partition("[declaration]")[2]
    (reader.home / "endpoint.toml").write_text(config)
    if not (reader.home / "organiser.key").exists():
        reader.run("aml keys new organiser")

    def certify(command, stages):
        driver = f"{sys.executable} -m tests.certification.driver --stages {stages}"
        rehearsal = "" if "--allow-private" in command else " --allow-private"
        words = command.replace("aml certify", f"{driver} certify") + rehearsal
        return reader.run(f"PYTHONPATH=$PYTHONPATH:{ROOT} {words}")

    yield certify
    for made in ("certification", "rehearsal"):
        shutil.rmtree(reader.home / made, ignore_errors=True)


def test_every_documented_command_is_of_a_known_kind():
    known = (
        "aml check",
        "aml report",
        "aml reproduce",
        "aml smoke",
        "aml probe",
        "aml compare",
        "aml serve",
        "aml forget",
        "aml explain",
        "aml rules",
        "aml new",
        "aml certify",
    )
    for where, command in commands():
        assert command.startswith((*known, "pytest ", *ELSEWHERE)), where


@pytest.mark.parametrize("command", runnable("aml check"))
def test_documented_checks_run(reader, command):
    chosen = "" if "--only" in command or "--plan" in command else CHECKS
    ran = reader.run(command + chosen)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("command", runnable("aml report"))
def test_documented_reports_are_made(reader, command):
    made = reader.run(f"aml check --url http://127.0.0.1:8080{CHECKS}")
    assert made.returncode == 0, made.stdout + made.stderr
    ran = reader.run(command)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("command", runnable("aml reproduce"))
def test_documented_reproductions_run(reader, command):
    made = reader.run(f"aml check --url http://127.0.0.1:8080 --json report.json{CHECKS}")
    assert made.returncode == 0, made.stdout + made.stderr
    ran = reader.run(command)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "no finding" in ran.stdout


@pytest.mark.parametrize("command", runnable("aml smoke"))
def test_documented_smoke_runs_run(reader, command):
    ran = reader.run(command)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Evidence recall" in ran.stdout


@pytest.mark.parametrize("command", runnable("aml probe"))
def test_documented_probes_run(reader, command):
    """With one user, who is asked in one way."""
    ran = reader.run(f"{command} --users 1 --modes direct")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Among its first 10 items it finds" in ran.stdout


@pytest.mark.parametrize("command", runnable("aml compare"))
def test_documented_comparisons_are_made(reader, command):
    for name in ("before.json", "after.json"):
        made = reader.run(f"aml check --url http://127.0.0.1:8080 --json {name}{CHECKS}")
        assert made.returncode == 0, made.stdout + made.stderr
    ran = reader.run(command)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "2 runs of one endpoint" in ran.stdout


@pytest.mark.parametrize("command", runnable("aml certify"))
def test_documented_certifications_run(certifying, command):
    """With a few rules, and two stages that take seconds."""
    begins = command.replace(" --resume", "")
    if begins != command:
        certifying(begins, "declaration")
    ran = certifying(command, "declaration,contract")
    assert ran.returncode == 6, ran.stdout + ran.stderr
    assert "INCOMPLETE: Not measured: preflight, capacity, forecast, fingerprint." in ran.stdout


@pytest.mark.parametrize("command", runnable("aml explain") + runnable("aml rules"))
def test_documented_explanations_are_given(reader, command):
    ran = reader.run(command)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "MUST" in ran.stdout


@pytest.mark.parametrize("command", runnable("aml new"))
def test_documented_projects_are_made(reader, command):
    ran = reader.run(command)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("command", runnable("pytest"))
def test_documented_pytest_runs(reader, command):
    ran = reader.run(f"{command} -q -p no:cacheprovider -k echo")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert " passed" in ran.stdout


@pytest.mark.parametrize("command", runnable("aml serve"))
def test_documented_servers_serve_and_end(reader, command):
    words = shlex.split(command)
    words[words.index("8080")] = "{port}"
    data = words[words.index("--data") + 1]
    words[words.index(data)] = f"{data}-{words[2].split(':')[0]}"
    with reader.start(words) as server:
        assert server.stop() in (0, -signal.SIGTERM)


@pytest.mark.parametrize("command", runnable("aml forget"))
def test_documented_users_are_forgotten(reader, command):
    words = ["aml", "serve", "hybrid", "--port", "{port}", "--data", "./data-forget"]
    with reader.start(words) as server:
        server.stop()
    ran = reader.run(command.replace("./data", "./data-forget"))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "forgotten: " in ran.stdout


@pytest.mark.slow
def test_the_memory_of_the_readme_is_conformant(reader):
    ran = reader.run("aml check --system my_memory:MyMemory")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "CONFORMANT" in ran.stdout


@pytest.mark.slow
def test_the_memory_of_the_how_to_is_conformant(reader):
    ran = reader.run("aml check --system notebook:Notebook --without verbatim")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "CONFORMANT" in ran.stdout


@pytest.mark.parametrize("block", snippets(), ids=lambda b: f"{b.page.name}:{b.line}")
def test_snippets_run(reader, block):
    text = block.text.replace("https://memory.example", f"http://127.0.0.1:{reader.port}")
    code = compile(text, str(block.page), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    running = eval(code, {"key": "k-documentation"})
    if inspect.iscoroutine(running):
        asyncio.run(running)


def test_the_readme_has_a_program():
    assert "my_memory.py" in programs()


@pytest.mark.parametrize("path", tables.WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_program_writes_is_up_to_date(path):
    text = path.read_text()
    assert text == tables.written(path), "run: python -m tests.docs.tables"
    assert path not in tables.PAGES or "<!-- end -->" in text


def test_every_command_is_documented():
    page = command_tables.PAGE.read_text()
    for name in command_tables.commands():
        assert re.search(rf"^###? aml {name}$", page, re.MULTILINE), name
        assert f"<!-- options of aml {name} -->" in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in links(page):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if there.is_relative_to(DOCS) and str(there.relative_to(DOCS)) in MADE:
            continue  # the tests of the site look at those
        assert there.exists(), target
        if anchor and there != DOCS / "wire-contract.md":
            assert anchor in anchors(there), target
