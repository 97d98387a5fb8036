"""The files of reference_servers/, read as Docker and Compose read them."""

import io
import re
from pathlib import Path

import yaml
from dotenv import dotenv_values

from tests.docs.pages import blocks_of
from tests.new.steps import dockerfile

ROOT = Path(__file__).parents[2]
SERVERS = ROOT / "reference_servers"
DOCKERFILE = SERVERS / "Dockerfile"
INSTRUCTIONS = dockerfile(DOCKERFILE)
MEMORIES = sorted(path.parent.name for path in SERVERS.glob("*/compose.yaml"))
PAGE = ROOT / "docs" / "howto" / "reference-servers.md"
KEY = "k-reference"

_VARIABLE = re.compile(r"\$\{(\w+):([-?])([^}]*)\}")


def compose(memory, variables):
    """A compose file, read, and the variables in its texts filled in."""

    def value(match):
        name, kind, otherwise = match.groups()
        if kind == "?" and not variables.get(name):
            raise LookupError(otherwise)
        return variables.get(name) or otherwise

    def filled(each):
        if isinstance(each, dict):
            return {name: filled(inner) for name, inner in each.items()}
        if isinstance(each, list):
            return [filled(inner) for inner in each]
        return _VARIABLE.sub(value, each) if isinstance(each, str) else each

    return filled(yaml.safe_load((SERVERS / memory / "compose.yaml").read_text()))


def example(memory):
    """The file of settings that a user copies."""
    return (SERVERS / memory / ".env.example").read_text()


def settings(text):
    """The variables of a file of settings."""
    return dotenv_values(stream=io.StringIO(text), interpolate=False)


def shown(memory):
    """The variables that the example sets, and those that it shows with their defaults."""
    return settings(re.sub(r"^#(?=AML_\w+=)", "", example(memory), flags=re.MULTILINE))


def context():
    """The files that Docker is given, relative to the root: those that .dockerignore leaves.

    It begins by ignoring everything, so only what it takes back is looked at.
    """
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    everything, *patterns = [line for line in lines if not line.startswith("#")]
    assert everything == "*"
    for pattern in patterns:
        if pattern.startswith("!"):
            taken = ROOT / pattern.removeprefix("!")
            for path in [taken, *taken.rglob("*")]:
                relative = path.relative_to(ROOT)
                if path.is_file() and not _ignored(relative, patterns):
                    yield relative


def _ignored(path, patterns):
    """Whether a pattern without an exclamation mark matches the path or a folder above it."""
    above = [path, *path.parents]
    return any(
        not pattern.startswith("!") and any(each.match(pattern) for each in above)
        for pattern in patterns
    )


def console():
    """The commands of the documentation."""
    for block in blocks_of(PAGE):
        if block.language == "console":
            yield from (line.removeprefix("$ ") for line in block.text.splitlines())
