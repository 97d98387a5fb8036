"""The examples of settings have every variable that a memory reads, with its default."""

import re

import pytest

from aml_adapters.long_context import LongContextSettings
from aml_adapters.memgpt import MemGPTSettings
from aml_adapters.rag import RagSettings
from aml_sdk.errors import Misconfigured
from aml_sdk.providers import ProviderSettings
from tests.reference_servers.parts import MEMORIES, ROOT, example, shown

READ = {
    "hybrid": [],
    "long-context": [LongContextSettings],
    "mem0": [ProviderSettings],
    "memgpt": [MemGPTSettings, ProviderSettings],
    "rag": [RagSettings, ProviderSettings],
}
"""What reads the variables of each memory."""
PROVIDERS = (ROOT / "sdk/aml_sdk/providers/settings.py").read_text()
MODEL = {"BASE_URL", "MODEL", "API_KEY"}
NO_DEFAULT = re.compile(r"(_KEY|_URL|_MODEL|_DIMENSIONS)$")
_NAME = re.compile(r"AML(?:_[A-Z]+)+(?![A-Z_])")


def code(memory):
    package = ROOT / "adapters/aml_adapters" / memory.replace("-", "_")
    return "".join(path.read_text() for path in package.glob("*.py"))


def variables(memory):
    """The names that stand in the memory's code, and those of the models that it uses."""
    names = set(_NAME.findall(code(memory)))
    embeds, chats = "choose(" in code(memory), "ChatModel" in code(memory)
    if embeds or chats:
        names |= set(_NAME.findall(PROVIDERS))
    for prefix, used in (("AML_LLM", chats), ("AML_EMBEDDING", embeds)):
        names = {name for name in names if used or not name.startswith(prefix)} - {prefix}
        names |= {f"{prefix}_{part}" for part in MODEL if used}
    return names


def another(name):
    """A value that is not the default, or none that makes sense."""
    if name.endswith("_ORDER"):
        return "oldest"
    return "http://127.0.0.1:9" if name.endswith("_URL") else "4097"


def test_every_memory_has_one():
    assert sorted(READ) == MEMORIES


@pytest.mark.parametrize("memory", MEMORIES)
def test_every_variable_is_shown(memory):
    assert set(shown(memory)) == variables(memory) | {"AML_KEY"}


@pytest.mark.parametrize("memory", MEMORIES)
def test_every_variable_is_explained(memory):
    for paragraph in example(memory).split("\n\n"):
        assert re.match(r"# \w", paragraph), paragraph


@pytest.mark.parametrize("memory", MEMORIES)
def test_what_is_shown_is_the_default(memory):
    for each in READ[memory]:
        assert each.from_environment(shown(memory)) == each.from_environment({})
    for name, value in shown(memory).items():
        assert bool(value) != bool(NO_DEFAULT.search(name)), name


@pytest.mark.parametrize(
    ("memory", "name"),
    [(memory, name) for memory in MEMORIES for name in shown(memory) if name != "AML_KEY"],
)
def test_every_variable_is_read(memory, name):
    def outcome(environment):
        found = []
        for each in READ[memory]:
            try:
                found.append(each.from_environment(environment))
            except Misconfigured as error:
                found.append(str(error))
        return found

    whole = {"AML_LLM_BASE_URL": "http://h/v1", "AML_LLM_MODEL": "m"}
    whole |= {"AML_EMBEDDING_BASE_URL": "http://h/v1", "AML_EMBEDDING_MODEL": "m"}
    assert outcome(whole) != outcome({**whole, name: another(name)})


@pytest.mark.parametrize("memory", MEMORIES)
def test_no_key_stands_in_it(memory):
    assert not [name for name, value in shown(memory).items() if value and "KEY" in name]
