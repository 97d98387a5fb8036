"""The versions that are installed here, so that an image gets the same."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution, version

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def installed_pins(requirement: str) -> list[str]:
    """Everything that a requirement brings along, as ``name==version``, by name.

    Only what is installed: an extra that is missing here is left open.
    """
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [Requirement(requirement)]
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        new = {extra for extra in ("", *wanted.extras) if (name, extra) not in seen}
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
        seen |= {(name, extra) for extra in new}
        for text in distribution(name).requires or () if new else ():
            needed = Requirement(text)
            marker = needed.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in new):
                waiting.append(needed)
    return [f"{name}=={found[name]}" for name in sorted(found)]
