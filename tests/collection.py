"""The servers of these tests as a collection for ``aml matrix``."""

import functools
import hashlib
import inspect
from dataclasses import replace
from pathlib import Path

import aml_adapters
import aml_sdk
from aml_contract.matrix.entry import Entry
from aml_contract.rule import Capability, all_rules
from tests.broken import servers
from tests.broken.serving import PATIENCE, managed
from tests.healthy import makes
from tests.healthy.makes import healthy_makes


def collection():
    """Healthy makes, the correct server, and every variation of it."""
    healthy = [replace(make, version=_version_of_makes()) for make in healthy_makes()]
    return [*healthy, *map(variation, servers().values())]


def variation(server):
    """One server of ``tests/broken``, started as the tests of its killers start it."""
    keyed = not server.kills or _of_keys() & set(server.kills)
    scheme = "bearer" if keyed else "none"
    target = managed(f"{server.__name__} --auth {scheme}")
    return Entry(
        name=server.__name__,
        **target,
        healthy=not server.kills,
        track=server.track,
        auth=scheme,
        thresholds={"patience": PATIENCE, **server.thresholds},
        kills=server.kills,
        risks=server.risks,
        version=_digest(*(inspect.getfile(one) for one in server.__mro__ if one is not object)),
    )


@functools.cache
def _of_keys():
    return {rule.name for rule in all_rules() if Capability.AUTH in rule.capabilities}


@functools.cache
def _version_of_makes():
    """Changes with any of them, and with what the reference memory is made of."""
    roots = [Path(makes.__file__), Path(aml_adapters.__file__), Path(aml_sdk.__file__)]
    return _digest(*sorted(file for root in roots for file in root.parent.rglob("*.py")))


@functools.cache
def _digest(*files):
    """Changes with any of the files."""
    return hashlib.sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()[:12]
