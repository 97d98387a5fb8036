"""URLs: what can be said of the three as they are registered, before anything is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, unquote, urlsplit

from aml_contract.certification.declaration.credentials import credential_in
from aml_contract.certification.grounds import Ground, remark, wrong
from aml_contract.certification.preflight.document import Preflight

_KEYS = re.compile(r"((api|auth|access|bearer)[_-]?)?(key|token)|secret|password", re.IGNORECASE)


def grounds(seen: Preflight) -> Iterator[Ground]:
    """What is wrong with the URLs; the endpoint's own key in one is refused before (K3)."""
    urls = {"Add": seen.add_url, "Search": seen.search_url, "health": seen.health_url}
    for name, url in urls.items():
        query = [key for key, _ in parse_qsl(urlsplit(url).query, keep_blank_values=True)]
        named = next(filter(_KEYS.fullmatch, query), None)
        if named or credential_in(unquote(url)):
            where = f"as {named} in its query" if named else "in it"
            yield wrong(
                f"The {name} URL carries a key {where}: URLs end in logs.",
                "have the key travel in a header, and register the URL without it",
                "K3",
            )
    if seen.add_url == seen.search_url:
        yield remark(
            "Add and Search are registered under one URL.",
            "see that this is meant: the platform posts both there",
            "E2",
        )
