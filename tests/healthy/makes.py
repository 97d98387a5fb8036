"""The healthy makes: one list for the tests and for ``aml matrix``.

They are as unlike as real ones: six HTTP servers, four kinds of stores, both readings where
readers of the contract disagree. ``expected`` holds what the kit rightly says of each.
"""

import sys

from aml_contract.matrix.entry import Entry
from tests.broken.serving import ROOT

_START = f"cd {ROOT} && exec {sys.executable} -m"
_NO_HEAD = {"health/head": "E4: HEAD on Add and Search is answered 405, as most frameworks do"}
_REFUSES = (
    "peer checks, last section: a legal reading, and a risk where the platform reads otherwise"
)


def healthy_makes():
    """Each make, how it is started, and the findings on it that are true."""
    return [
        Entry(
            name="dict",
            healthy=True,
            cmd=f"{_START} tests.healthy.dict_server --port {{port}}",
            killable=False,  # it keeps all in memory
        ),
        Entry(
            name="http-server",
            healthy=True,
            cmd=f"{_START} tests.healthy.stdlib_server --port {{port}} --data {{data}}",
        ),
        Entry(
            name="sqlite",
            healthy=True,
            cmd=f"{_START} tests.healthy.flask_server --port {{port}} --data {{data}}",
            auth="token",
            expected=_NO_HEAD,
        ),
        Entry(
            name="strict",
            healthy=True,
            cmd=f"{_START} tests.healthy.strict_server --port {{port}} --data {{data}}",
            auth="x-api-key",
            expected={
                **_NO_HEAD,
                "input/blank-turn": f"A9: blank turns are refused; {_REFUSES}",
                "input/roles": f"A5: other roles are refused; {_REFUSES}",
                "input/text-parts": f"A6: text parts are refused; {_REFUSES}",
                "input/unknown-keys": f"A8: unknown fields are refused; {_REFUSES}",
                "limits/top-k-large": f"S3: a top_k above 100 is refused; {_REFUSES}",
                "repeats/conflicting-body": f"R4: the first write wins in silence; {_REFUSES}",
                "repeats/unknown-keys": "R3: a repeat with unknown fields is refused, as they are",
                "structure/extra-keys": "A11: the Add answer holds memory_ids",
            },
        ),
        Entry(
            name="rewriting",
            healthy=True,
            cmd=f"{_START} tests.healthy.rewriting_server --port {{port}} --data {{data}}",
            add_path="/v1/memories",
            search_path="/v1/memories/search",
            without=("verbatim",),
        ),
        Entry(
            name="hybrid",
            healthy=True,
            cmd=f"{_START} aml_cli.main serve hybrid --port {{port}} --data {{data}}",
        ),
    ]
