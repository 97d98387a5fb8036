"""``python -m codegen [--check]``: write the generated files, or say which are out of date."""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from codegen import openapi, python, stubs
from codegen.descriptors import PROTO_ROOT, compile_contract
from codegen.reader import read_contract

REPOSITORY = PROTO_ROOT.parent
PACKAGE = Path("sdk/aml_sdk/_gen")
DOCUMENT = Path("proto/openapi/openapi.json")
KIT_DOCUMENT = Path("contract_tests/aml_contract/fuzz/openapi.json")
"""The kit's own copy: it judges strangers and uses nothing of the SDK."""


def outputs() -> dict[Path, str]:
    """The text of every generated file by its path in the repository."""
    files = compile_contract()
    contract = read_contract(files)
    document = openapi.text(contract)
    package = {"openapi.json": document, **python.modules(contract), **stubs.stubs(files)}
    documents = dict.fromkeys((DOCUMENT, KIT_DOCUMENT), document)
    return documents | {PACKAGE / name: text for name, text in package.items()}


def differences(expected: dict[Path, str], root: Path = REPOSITORY) -> list[str]:
    """The diff of each file that is not what it should be; a file too many is one as well."""
    found = []
    for path, text in sorted(expected.items()):
        present = (root / path).read_text("utf-8") if (root / path).exists() else ""
        if present != text:
            found.append(
                "".join(
                    difflib.unified_diff(
                        present.splitlines(keepends=True),
                        text.splitlines(keepends=True),
                        f"{path} (committed)",
                        f"{path} (generated)",
                    )
                )
            )
    generated = {root / path for path in expected}
    strangers = {path for path in (root / PACKAGE).iterdir() if path.is_file()} - generated
    found += [f"{path.relative_to(root)} is not generated\n" for path in sorted(strangers)]
    return found


def main() -> int:
    """Write, or with ``--check`` compare; 1 when something differs."""
    parser = argparse.ArgumentParser(prog="scripts/generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail on a difference")
    expected = outputs()
    if parser.parse_args().check:
        found = differences(expected)
        sys.stdout.writelines(found)
        if found:
            sys.stderr.write(f"{len(found)} files are out of date: run scripts/generate\n")
        return 1 if found else 0
    for path, text in expected.items():
        (REPOSITORY / path).parent.mkdir(parents=True, exist_ok=True)
        (REPOSITORY / path).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
