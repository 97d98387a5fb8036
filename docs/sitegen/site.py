"""Lays the site out: pages, navigation and settings in one directory, for zensical to build."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from aml_contract.report.coverage import coverage
from aml_contract.rule import all_rules
from sitegen.clauses import failure_modes, with_rules
from sitegen.examples import examples
from sitegen.rules import navigation, rule_pages

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SETTINGS = Path(__file__).with_name("site.yml")
_OF_ROOT = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md"}
"""Pages that lie beside ``docs``, and what they are called on the site."""
_LINK = re.compile(r"(\]\()([^)\s:]+?)(#[^)\s]*)?(\))")


def pages() -> dict[str, str]:
    """Every page of the site by its path: those that were written, and those that are made."""
    return dict([*_written(), *_made()])


def made_pages() -> set[str]:
    """The paths of the pages that are made, and so not in the repository."""
    return {path for path, _ in _made()} - {"wire-contract.md"}


def lay_out(place: Path) -> None:
    """Write pages, assets and settings into an empty directory."""
    for path, text in pages().items():
        whole = place / "pages" / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_text(text, encoding="utf-8")
    shutil.copytree(DOCS / "assets", place / "pages" / "assets")
    settings = yaml.safe_dump(_settings(), allow_unicode=True, sort_keys=False)
    (place / "mkdocs.yml").write_text(settings, encoding="utf-8")


def _written() -> Iterator[tuple[str, str]]:
    for path in sorted(DOCS.rglob("*.md")):
        yield str(path.relative_to(DOCS)), path.read_text(encoding="utf-8")
    for name, path_on_site in _OF_ROOT.items():
        yield path_on_site, _moved((ROOT / name).read_text(encoding="utf-8"))


def _moved(text: str) -> str:
    """A page of the root, its links as seen from ``docs``."""

    def link(match: re.Match[str]) -> str:
        path = _OF_ROOT.get(match[2], match[2].removeprefix("docs/"))
        return f"{match[1]}{path}{match[3] or ''}{match[4]}"

    return _LINK.sub(link, text)


def _made() -> Iterator[tuple[str, str]]:
    rules = all_rules()
    lines = coverage(rules)
    modes = [line for line in lines if line.kind == "mode"]
    clauses = [line for line in lines if line.kind == "clause"]
    yield from rule_pages(rules, {int(mode.id): mode for mode in modes}, examples())
    contract = (DOCS / "wire-contract.md").read_text(encoding="utf-8")
    yield "wire-contract.md", with_rules(contract, clauses)
    yield "failure-modes.md", failure_modes(modes)


def _settings() -> dict[str, Any]:
    settings: dict[str, Any] = yaml.safe_load(SETTINGS.read_text(encoding="utf-8"))
    lists: dict[str, list[object]] = {
        "RULES": navigation(all_rules()),
        "DECISIONS": ["decisions/README.md", *_decisions()],
        "OTHERS": [],
    }
    named = set(_leaves(_filled(settings["nav"], lists)))
    lists["OTHERS"] = [path for path, _ in _written() if path not in named]
    settings["nav"] = _filled(settings["nav"], lists)
    return settings


def _decisions() -> Iterator[str]:
    for path in sorted((DOCS / "decisions").glob("[0-9]*.md")):
        yield str(path.relative_to(DOCS))


def _filled(nav: object, lists: dict[str, list[object]]) -> object:
    """The navigation, each word of ``lists`` replaced by what it stands for."""
    if isinstance(nav, dict):
        return {title: _filled(each, lists) for title, each in nav.items()}
    if isinstance(nav, list):
        filled: list[object] = []
        for each in nav:
            filled += lists.get(each, [each]) if isinstance(each, str) else [_filled(each, lists)]
        return filled
    return lists.get(nav, nav) if isinstance(nav, str) else nav


def _leaves(nav: object) -> Iterator[object]:
    """The paths in the navigation."""
    if isinstance(nav, dict | list):
        for each in nav.values() if isinstance(nav, dict) else nav:
            yield from _leaves(each)
    else:
        yield nav
