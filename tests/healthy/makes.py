"""The healthy makes: one list for the tests and for ``aml matrix``."""

import sys

from aml_contract.matrix.entry import Entry
from tests.broken.serving import ROOT

_START = f"cd {ROOT} && exec {sys.executable}"


def healthy_makes():
    """Each make, how it is started, and the findings on it that are true."""
    return [
        Entry(
            name="dict",
            healthy=True,
            cmd=f"{_START} -m tests.healthy.dict_server --port {{port}}",
            killable=False,  # it keeps all in memory
        ),
        Entry(
            name="http-server",
            healthy=True,
            cmd=f"{_START} -m tests.healthy.sqlite_server --port {{port}} --data {{data}}",
        ),
        Entry(
            name="hybrid",
            healthy=True,
            cmd=f"{_START} -m aml_cli.main serve hybrid --port {{port}} --data {{data}}",
        ),
    ]
