"""Builds the site: ``python -m sitegen DIRECTORY`` leaves it in ``DIRECTORY/site``."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from sitegen.site import lay_out

_SHIM = "https://unpkg.com/iframe-worker/shim"
"""What zensical loads from elsewhere so that the search works on pages opened from disk."""
_OWN_SHIM = "assets/iframe-worker.js"


def main() -> None:
    """Lay the site out, build it, and leave nothing in it that is loaded from elsewhere.

    Raises:
        SystemExit: with the code of zensical; 1 after any warning.
    """
    parser = argparse.ArgumentParser(prog="python -m sitegen")
    parser.add_argument("directory", type=Path, help="emptied first")
    place: Path = parser.parse_args().directory
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    lay_out(place)
    if code := build(place):
        sys.exit(code)
    for page in (place / "site").rglob("*.html"):
        root = os.path.relpath(place / "site", page.parent)
        text = page.read_text(encoding="utf-8").replace(_SHIM, f"{root}/{_OWN_SHIM}")
        page.write_text(text, encoding="utf-8")


def build(place: Path) -> int:
    """Let zensical build what is laid out there; 0 if it found nothing to warn of."""
    zensical = Path(sys.executable).with_name("zensical")
    command = [str(zensical), "build", "--strict", "--clean", "--config-file", "mkdocs.yml"]
    return subprocess.run(command, cwd=place, check=False).returncode


if __name__ == "__main__":
    main()
