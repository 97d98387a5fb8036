"""What every page of the kit has: one style, one script, and a policy that allows no more.

The policy (``Content-Security-Policy``) allows the style and the script that are written into
the page, by their hashes, and nothing else: what a hostile server answered is text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from aml_contract.latency import in_words

_COMMON = "aml_contract.report.html"
"""The package whose style and macros other pages use too."""


class Frame:
    """The style and the script of a page, and its policy.

    Args:
        package: where its templates are.
        styles: files with its style, in their order; ``report.css`` is common to all.
        scripts: files with its script.
    """

    def __init__(self, package: str, styles: Sequence[str], scripts: Sequence[str] = ()) -> None:
        self._package = package
        # Ours, and their hashes are in the policy.
        self.style = Markup("".join(map(self._part, styles)))  # noqa: S704
        self.script = Markup("".join(map(self._part, scripts)))  # noqa: S704

    @property
    def policy(self) -> str:
        """What the page may load and run."""
        script = f"'{_hash(self.script)}'" if self.script else "'none'"
        return (
            f"default-src 'none'; style-src '{_hash(self.style)}'; script-src {script}; "
            "base-uri 'none'; form-action 'none'"
        )

    def environment(self) -> Environment:
        """Where its template finds itself and what it is made of; everything is escaped."""
        environment = Environment(
            loader=ChoiceLoader([PackageLoader(self._package, ""), PackageLoader(_COMMON, "")]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters["seconds"] = in_words
        return environment

    def _part(self, name: str) -> str:
        own = files(self._package).joinpath(name)
        return (own if own.is_file() else files(_COMMON).joinpath(name)).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
