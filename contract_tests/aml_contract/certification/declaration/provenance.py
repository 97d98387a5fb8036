"""Provenance: what exactly is served, and where everyone can read it (clause T3)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from aml_contract.certification.declaration.model import Declaration, is_unanswered
from aml_contract.certification.grounds import Ground, wrong

_MOVING = re.compile(
    "canary|current|dev(el(op(ment)?)?)?|edge|head|latest|main|master|newest|next|nightly"
    "|prod(uction)?|release|rolling|stable|tip|trunk"
)
"""Names of branches and tags that are moved on."""
_BRANCHES = ("refs/heads/", "origin/")
_RANGE = re.compile(r"^[\^~<>=]|\*|\b\d+(\.\d+)*\.x\b")
_INSIDE = (".internal", ".lan", ".local", ".localhost")


def provenance(declared: Declaration) -> Iterator[Ground]:
    """What is wrong with versions, commit and repository; where they lack, others say so."""
    for name in ("version", "product_version"):
        version = getattr(declared, name)
        if why := _moves(version):
            fix = "name the one version that is served; it is frozen for the run (clause T2)"
            yield wrong(f"{name} is {version!r}, which {why}.", fix, "T3")
    if declared.division == "commercial":
        return  # which may say anything of a repository, or nothing
    if not is_unanswered(declared.commit):
        yield from _commit(declared.commit)
    if not is_unanswered(declared.repository):
        yield from _repository(declared.repository)


def _moves(version: str) -> str | None:
    """Why a version is none that stays, in words that follow "which"."""
    last = re.split("[:/@]", version.casefold())[-1]
    if _MOVING.fullmatch(last) or version.startswith(_BRANCHES):
        return "moves on, as branches do"
    if _RANGE.search(version):
        return "is a range of versions"
    return None


def _commit(commit: str) -> Iterator[Ground]:
    if not re.fullmatch("[0-9a-fA-F]{40}", commit):
        short = re.fullmatch("[0-9a-fA-F]{4,39}", commit)
        what = f"is only {len(commit)} of 40 hexadecimal digits" if short else "is no commit"
        fix = "write what `git rev-parse HEAD` says where the endpoint was built"
        yield wrong(f"commit is {commit!r}, which {what}.", fix, "T3")


def _repository(repository: str) -> Iterator[Ground]:
    fix = "write the https:// URL under which everyone can read it"
    try:
        parts = urlsplit(repository)
    except ValueError:
        parts = urlsplit("")
    host = parts.hostname or ""
    if parts.username is not None:
        yield wrong("repository holds a user before its host.", fix, "K3")
    elif parts.scheme not in ("http", "https") or not host:
        yield wrong(f"repository is {repository!r}, which is no URL of the web.", fix, "T3")
    elif _is_inside(host):
        yield wrong(f"repository is at {host}, which is not public.", fix, "T3")


def _is_inside(host: str) -> bool:
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith(_INSIDE)
