"""The kit's words where pytest is the command."""

from __future__ import annotations

import re

from aml_contract.config import SETTINGS

_NAMES = "|".join([*(setting.flag.removeprefix("--") for setting in SETTINGS), "config"])
_FLAGS = re.compile(rf"(?<![\w-])--(?=(?:{_NAMES})(?![\w-]))")


def as_options(text: str) -> str:
    """Options of ``aml`` under the names they have here: ``--url`` is ``--aml-url``."""
    return _FLAGS.sub("--aml-", text)
