"""What the commands that fill in tables have in common."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from aml_contract.smoke.locomo import Conversation, MalformedFileError
from benchmarks import page
from benchmarks.cells import ROOT
from benchmarks.measuring import talk


def options(description: str | None) -> argparse.ArgumentParser:
    """A parser that knows the options of all tables."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("AML_DATA_DIR"),
        help="directory that holds locomo/conv-NN.json; AML_DATA_DIR unless given",
    )
    parser.add_argument(
        "--work",
        type=Path,
        default=ROOT / ".aml" / "benchmarks",
        help="where cells and stores are kept, on the disk that is to be measured",
    )
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="measure this alone; repeatable"
    )
    parser.add_argument("--tiny", action="store_true", help="as little as shows that it works")
    parser.add_argument("--write", action="store_true", help="write the tables into docs")
    return parser


def parsed(parser: argparse.ArgumentParser, names: Sequence[str]) -> argparse.Namespace:
    """The options, ``only`` made a list of ``names``; ends the program over those that clash.

    A model behind a URL, or other limits, would be measured in place of what the page tells of:
    ``AML_…`` is taken out of the environment.
    """
    options_ = parser.parse_args()
    for name in [name for name in os.environ if name.startswith("AML_")]:
        del os.environ[name]
    if options_.write and (options_.tiny or options_.only):
        parser.error("--write is for whole tables: leave --tiny and --only out")
    unknown = set(options_.only or ()) - set(names)
    if unknown:
        parser.error(f"--only knows {', '.join(names)}, and not {', '.join(sorted(unknown))}")
    options_.only = [name for name in names if not options_.only or name in options_.only]
    if options_.tiny:
        options_.work /= "tiny"
    return options_


def conversations(
    parser: argparse.ArgumentParser, options_: argparse.Namespace, numbers: Sequence[int]
) -> list[Conversation]:
    """Those of LoCoMo, or with ``--tiny`` the one that comes with the kit."""
    if options_.tiny:
        return talk.small()
    if options_.data is None:
        parser.error("name the directory of the conversations: --data DIR, or AML_DATA_DIR")
    try:
        return talk.locomo(numbers, options_.data)
    except MalformedFileError as error:
        parser.error(str(error))


def publish(options_: argparse.Namespace, name: str, markdown: str) -> None:
    """Print the tables, or put them into their page."""
    if options_.write:
        page.write(name, markdown)
        print(f"written into {page.PAGE}")
    else:
        print(markdown)
