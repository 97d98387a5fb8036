"""The site builds without a warning, leads nowhere wrong, and needs no network."""

import json
import re
import subprocess
import sys

import pytest
import yaml

from aml_contract.rule import all_rules
from sitegen.__main__ import build
from sitegen.examples import examples
from sitegen.rules import page_of
from sitegen.site import DOCS, SETTINGS, pages
from tests.broken import servers
from tests.docs.html import Site
from tests.docs.pages import ROOT

pytestmark = pytest.mark.xdist_group("site")
zensical = pytest.importorskip("zensical", reason="the group docs is not installed")
FORM = ["What it does", "Why", "Example", "Fix", "How it is tried"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    place = tmp_path_factory.mktemp("site") / "docs"
    built = subprocess.run(
        [sys.executable, "-m", "sitegen", str(place)],
        cwd=ROOT,
        env={"PYTHONPATH": str(DOCS), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert "No issues found" in built.stdout + built.stderr
    return Site(place / "site")


def test_every_link_leads_somewhere(site):
    assert not list(site.dead_links())


def test_nothing_is_loaded_from_elsewhere(site):
    assert not list(site.loaded_from_elsewhere())
    for sheet in site.root.rglob("*.css"):
        assert not re.search(r"url\(\s*['\"]?(https?:)?//", sheet.read_text()), sheet.name


def test_every_page_can_be_reached_from_the_first(site):
    reached, waiting = set(), ["index.html"]
    while waiting:
        path = waiting.pop()
        if path not in reached and path in site.pages:
            reached.add(path)
            waiting += [there for _, there, _ in site.targets(path)]
    assert not site.pages.keys() - reached - {"404.html"}


@pytest.fixture
def opened(browser, site):
    """Opens a page from disk; what it asks of others and complains of fails the test."""
    trouble, contexts = [], []

    def show(path, **how):
        contexts.append(browser.new_context(**how))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on(
            "request",
            lambda asked: asked.url.startswith(("file:", "data:")) or trouble.append(asked.url),
        )
        page.goto((site.root / path).as_uri())
        return page

    yield show
    for context in contexts:
        context.close()
    assert trouble == []


def test_the_search_works_on_pages_opened_from_disk(opened):
    page = opened("index.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("lower-casing collation")
    page.locator("a[href*='rules/isolation/case-twins.html']").first.click(timeout=30_000)
    assert page.locator("h1").inner_text().startswith("isolation/case-twins")


@pytest.mark.parametrize("path", ["index.html", "rules/isolation/case-twins.html", "cli.html"])
def test_a_phone_shows_a_page_without_scrolling_sideways(opened, path):
    page = opened(path, viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_it_follows_the_light_or_dark_of_the_system(opened):
    grounds = [
        opened("index.html", color_scheme=scheme).evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
        for scheme in ("light", "dark")
    ]
    assert grounds[0] != grounds[1]


def test_a_warning_stops_the_build(tmp_path):
    settings = {**yaml.safe_load(SETTINGS.read_text()), "nav": ["index.md"]}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(settings))
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/index.md").write_text("# Home\n\n[nowhere](nowhere.md)\n")
    assert build(tmp_path) == 1
    (tmp_path / "pages/index.md").write_text("# Home\n\n[here](index.md)\n")
    assert build(tmp_path) == 0


def test_a_rule_is_explained_in_the_form_that_readers_know():
    made = pages()
    for rule in all_rules():
        headings = re.findall(r"^## (.*)$", made[page_of(rule.name)], re.MULTILINE)
        assert headings[: len(FORM)] == FORM, f"{rule.name}: python -m tests.docs.examples"


def test_examples_are_of_rules_and_servers_that_exist():
    names = {rule.name for rule in all_rules()}
    for rule, example in examples().items():
        again = f"{rule}: run python -m tests.docs.examples"
        assert rule in names, again
        server = servers().get(example.server)
        assert server is not None, again
        assert rule in server.kills, again
        assert server.kills[rule] in example.message, f"{again} {rule}"


def test_no_key_and_no_place_of_the_author_is_in_the_examples():
    text = json.dumps([each.model_dump() for each in examples().values()])
    assert "/tmp/" not in text.replace("/tmp/aml-", "")
    assert str(ROOT) not in text
