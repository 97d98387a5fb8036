"""``aml certify`` with a requirement set of a few rules, in a process that can be killed.

``python -m tests.certification.driver [--stages A,B] [--hold STAGE FILE] certify …``: of the
stages only these, and STAGE stops when it has measured, before it is kept, and says so in FILE.
The kit's digest is always the same, so that nobody's editing it disturbs a test.
"""

import asyncio
import sys
from pathlib import Path

from aml_cli.main import main
from aml_contract.certification import requirements, stages
from aml_contract.certification.certificate.statement import Kit

RULES = {
    "durability/kill-after-ack": {"level": "MUST", "managed": True},
    "durability/restart": {"level": "MUST"},
    "echo/ids": {"level": "MUST"},
    "fidelity/text": {"level": "SHOULD"},
    "structure/add-status": {"level": "MUST"},
    "structure/legal-requests": {"level": "MUST"},
    "visibility/immediate": {"level": "MUST"},
}
TRACKS = ["textual", "coding", "multimodal"]
SMALL = {"name": requirements.CURRENT, "tracks": TRACKS, "rules": RULES}


class Held:
    """A stage that never comes to its end, although it has measured everything."""

    def __init__(self, stage, file):
        self.name = stage.name
        self.judge = stage.judge
        self._stage = stage
        self._file = file

    async def measure(self, context):
        data = await self._stage.measure(context)
        Path(self._file).touch()  # noqa: ASYNC240  nothing else goes on
        await asyncio.Event().wait()
        return data


def run(arguments):
    """Run ``aml`` with these arguments."""
    kit = Kit(version="0.1.0", digest="5" * 64)
    Kit.installed = classmethod(lambda cls: kit)
    requirements._sets = lambda: {requirements.CURRENT: SMALL}
    chosen = dict(stages.STAGES)
    while arguments[0].startswith("--"):
        if arguments[0] == "--stages":
            names = arguments[1].split(",")
            chosen = {name: chosen[name] for name in names}
            arguments = arguments[2:]
        else:
            _, name, file, *arguments = arguments
            chosen[name] = Held(chosen[name], file)
    stages.STAGES = chosen
    sys.argv = ["aml", *arguments]
    main()


if __name__ == "__main__":
    run(sys.argv[1:])
