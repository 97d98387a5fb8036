"""The healthy makes: one list for the tests and for ``aml matrix``.

They are as unlike as real ones: six HTTP servers, many kinds of stores and ids, both readings
where readers of the contract disagree. ``expected`` holds what the kit rightly says of each.
"""

import hashlib
import sys
import tomllib
from pathlib import Path

from aml_contract.matrix.entry import KEY_VARIABLE, Entry
from tests.broken.serving import PATIENCE, ROOT

HERE = Path(__file__).parent
BETTERMEMORY = ROOT / ".venv/bettermemory"
"""Where ``scripts/bettermemory`` installs it."""

_HEAD = {"health/head": "E4: HEAD on Add and Search is answered 405, as by most frameworks"}
_REFUSES = "a legal reading (peer checks, last section), and a risk if the platform's is the other"


def healthy_makes():
    """Each make, how it is started, and the findings on it that are true."""
    return [
        make(
            "dict",
            "dict_server",
            killable=False,  # it keeps all in memory
            expected={
                "errors/invalid-fields": "A7: pydantic takes true for the number 1",
                "fidelity/surrogates": "A10, F3: half a surrogate pair in a query ends in a 500",
                "limits/top-k-invalid": 'S3: pydantic takes "5" and true for numbers',
                "transport/content-type": "E1: FastAPI refuses JSON that is not called so",
            },
        ),
        make("http-server", "stdlib_server"),
        make("sqlite", "flask_server", auth="token", expected=_HEAD),
        make(
            "strict",
            "strict_server",
            auth="x-api-key",
            expected=_HEAD
            | {
                "input/blank-turn": f"A9: blank turns are refused; {_REFUSES}",
                "input/roles": f"A5: other roles are refused; {_REFUSES}",
                "input/text-parts": f"A6: text parts are refused; {_REFUSES}",
                "input/unknown-keys": f"A8: unknown fields are refused; {_REFUSES}",
                "limits/top-k-large": f"S3: a top_k above 100 is refused; {_REFUSES}",
                "repeats/conflicting-body": f"R4: the first write wins in silence; {_REFUSES}",
                "structure/extra-keys": "A11: the Add answer holds memory_ids",
            },
        ),
        make(
            "rewriting",
            "rewriting_server",
            add_path="/v1/memories",
            search_path="/v1/memories/search",
            without=("verbatim",),
        ),
        memory("hybrid"),
        bettermemory(),
    ]


def make(name, module, **rest):
    """An entry of a server in this directory."""
    data = "" if rest.get("killable") is False else " --data {data}"
    return Entry(
        name=name,
        healthy=True,
        cmd=f"{_python()} -m tests.healthy.{module} --port {{port}}{data}",
        thresholds={"patience": PATIENCE},
        version=_digest(HERE / f"{module}.py"),
        **rest,
    )


def memory(name, **rest):
    """A reference memory behind the SDK's server; with ``auth`` it wants the key."""
    keyed = f" --auth {rest['auth']} --key-env {KEY_VARIABLE}" if "auth" in rest else ""
    return Entry(
        name=name,
        healthy=True,
        cmd=f"{_python()} -m aml_cli.main serve {name} --port {{port}} --data {{data}}{keyed}",
        thresholds={"patience": PATIENCE},
        version=_digest(
            *sorted((ROOT / "adapters").rglob("*.py")), *sorted((ROOT / "sdk").rglob("*.py"))
        ),
        **rest,
    )


def bettermemory():
    """One that none of us wrote, with the findings on it that were proved one by one."""
    findings = HERE / "bettermemory/findings.toml"
    true = tomllib.loads(findings.read_text())
    environment = f"AML_ADAPTER_TOKEN=${KEY_VARIABLE} AML_STORE_ROOT={{data}} PYTHONPATH=src"
    return Entry(
        name="bettermemory",
        healthy=True,
        cmd=f"cd {BETTERMEMORY}/source && {environment}"
        " exec ../venv/bin/python bench/aml/server.py --port {port}",
        auth="bearer",
        thresholds={"patience": PATIENCE},
        expected={rule: f"{one['clause']}: {one['why']}" for rule, one in true.items()},
        sometimes=frozenset(rule for rule, one in true.items() if one.get("sometimes")),
        version=_digest(HERE / "bettermemory/sdist.txt", HERE / "bettermemory/requirements.lock"),
    )


def _python():
    return f"cd {ROOT} && exec {sys.executable}"


def _digest(*files):
    """Changes with any of the files."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
