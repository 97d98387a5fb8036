"""What Adds and Searches take, and where: every memory behind the server, and without it.

    python -m benchmarks.speed [--write]

says LoCoMo conversations (``--data``, or ``AML_DATA_DIR``) to each memory behind a real ``aml
serve``, and to each as a library, in turns. Then it asks among 1,000, 10,000 and 100,000 messages
of one user, with 1 and 16 Searches in flight. ``--only`` names memories, ``--sizes`` other
numbers of messages. Stores are filled first, on both cores; that is not measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from benchmarks import command, page, tables
from benchmarks.cells import Cell, Cells, steps
from benchmarks.measuring.adding import adding
from benchmarks.measuring.client import Until
from benchmarks.measuring.filling import Stores
from benchmarks.measuring.searching import Effort, floor, searching
from benchmarks.measuring.talk import REPORTED_ON, TUNED_ON

SYSTEMS = ("hybrid", "memgpt", "rag", "mem0", "long-context")
LIBRARIES = {
    "rag": "benchmarks.measuring.plain:Chroma",
    "mem0": "benchmarks.measuring.plain:Mem0",
}
"""What an adapter is made of; the others are themselves the library."""
SIZES = (1_000, 10_000, 100_000)
_MOST = {"mem0": 10_000}
"""Messages beyond which a memory is not asked."""
_EFFORT = Effort(Until(least=100, most=300, seconds=5), pairs=25)
_TINY = Effort(Until(most=5), pairs=3)

# Seconds on two quiet cores: of Adds, of Searches among each of SIZES, of filling 1,000 messages.
_ADDS = {"hybrid": 16, "memgpt": 22, "rag": 20, "mem0": 40, "long-context": 8}
_SEARCHES = {
    "hybrid": (12, 17, 35),
    "memgpt": (13, 19, 45),
    "rag": (19, 20, 120),
    "mem0": (22, 45),
    "long-context": (16, 16, 16),
}
_FILLS = {
    "hybrid": 0.4,
    "memgpt": 1.3,
    "rag": 1.6,
    "mem0": 2,
    "long-context": 0.15,
    LIBRARIES["rag"]: 1,
    LIBRARIES["mem0"]: 20,
}
_START = 3
"""Seconds until a process of a memory is there, and so a guess for what is small."""


def adds(systems: Sequence[str], stores: Stores) -> dict[str, Cell]:
    """A cell for each memory."""
    return {
        system: Cell(
            f"{system}, Adds",
            _ADDS[system],
            partial(adding, system, LIBRARIES.get(system), stores),
        )
        for system in systems
    }


def searches(
    systems: Sequence[str], sizes: Sequence[int], stores: Stores, effort: Effort
) -> dict[tuple[str, int], Cell]:
    """A cell for each memory and number of messages; the library is asked among the fewest."""
    return {
        (system, messages): Cell(
            f"{system}, among {messages:,}",
            dict(zip(SIZES, _SEARCHES[system], strict=False)).get(messages, 3 * _START),
            partial(
                searching,
                system,
                messages,
                LIBRARIES.get(system) if messages == min(sizes) else None,
                stores,
                effort,
            ),
        )
        for system in systems
        for messages in sizes
        if messages <= _MOST.get(system, messages)
    }


def fill(stores: Stores, wanted: Sequence[tuple[str, int]], sizes: Sequence[int]) -> None:
    """Make the stores in which it will be asked, and the smaller ones that they grow from."""
    needed: dict[str, list[int]] = {}
    for system, most in wanted:
        needed[system] = [messages for messages in sizes if messages <= most]
        if system in LIBRARIES:
            needed[LIBRARIES[system]] = [min(sizes)]
    cells = {
        (system, messages): Cell(
            f"{system}, {messages:,} messages",
            _START + _FILLS[system] * messages / 1_000 / stores.processes,
            dict,
        )
        for system, some in needed.items()
        for messages in some
        if not stores.path(system, messages).exists()
    }
    with steps(f"{len(cells)} stores to fill", list(cells.values())) as done:
        stores.fill(needed, lambda *made: done(cells[made]))


def main() -> None:
    """Measure, and print or write the tables."""
    parser = command.options(__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, metavar="N", help="numbers of messages")
    options = command.parsed(parser, SYSTEMS)
    if options.write and options.sizes:
        parser.error("--write is for whole tables: leave --sizes out")
    effort = _TINY if options.tiny else _EFFORT
    sizes = sorted(options.sizes or ((40, 80) if options.tiny else SIZES))
    talk = command.conversations(parser, options, [*TUNED_ON, *REPORTED_ON])
    cells = Cells(options.work, "speed")
    stores = Stores(cells.directory / "stores", talk)
    client = Cell("client", 3, partial(floor, stores.directory, effort))
    of_adds = adds(options.only, stores)
    of_searches = searches(options.only, sizes, stores, effort)
    fill(stores, [which for which, cell in of_searches.items() if cells.missing([cell])], sizes)
    bare, *figures = cells.figures([client, *of_adds.values(), *of_searches.values()])
    stores.remove()
    added = dict(zip(of_adds, figures, strict=False))
    searched = dict(zip(of_searches, figures[len(of_adds) :], strict=True))
    origin = page.origin([bare, *figures], options.work)
    command.publish(options, "speed", f"{origin}\n\n{tables.speed(bare, added, searched)}")


if __name__ == "__main__":
    main()
