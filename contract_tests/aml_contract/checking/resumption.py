"""Resumption: a run that was stopped or killed, and what of it need not be tried again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

from aml_contract.checking.document import Report, Settings, parts_of, report_of
from aml_contract.checking.events import Event, read_events
from aml_contract.checking.samples import timed_of
from aml_contract.exchange import Exchange, Operation
from aml_contract.outcome import Outcome
from aml_contract.rule import Rule

_KEPT = frozenset({Outcome.PASSED, Outcome.FAILED, Outcome.WARNED, Outcome.NOT_APPLICABLE})
_NOT_COMPARED = {"origins", "show_replies", "budget"}
"""Settings that change what is shown and how long, not what is tried."""


class CannotResume(ValueError):  # noqa: N818  a state of the world, told to the user
    """The run cannot go on as asked; the message says why and what to do."""


@dataclass(frozen=True)
class Resumption:
    """An earlier run that goes on.

    Rules that came to a result keep it, except those that judge the run as a whole: they
    judge again, together with what the earlier parts measured. What was cut short, broke
    the kit or could not be tested is tried again, with ids that nobody has used.
    """

    directory: Path
    events: Sequence[Event]

    @classmethod
    def of(cls, directory: Path) -> Resumption:
        """The run that keeps its events in ``directory``.

        Raises:
            CannotResume: it holds no run of this kit.
        """
        file = directory / "events.jsonl"
        try:
            found = cls(directory, read_events(file))
            report = found.report
        except OSError as error:
            raise CannotResume(f"{file} cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise CannotResume(f"{file} holds no events of a run") from error
        if report.kit != version("aml-contract"):
            raise CannotResume(
                f"run {report.run} was made by version {report.kit} of the kit, this is "
                f"{version('aml-contract')}: its rules may differ; start a new run"
            )
        return found

    @cached_property
    def report(self) -> Report:
        """What the run had come to."""
        return report_of(self.events)

    @property
    def name(self) -> str:
        """The run's name."""
        return self.report.run

    @property
    def tried(self) -> list[str]:
        """The names of the rules that the run meant to try."""
        return [result.rule for result in self.report.rules]

    def kept(self, rules: Iterable[Rule]) -> list[Rule]:
        """The rules whose results are taken over."""
        outcomes = {result.rule: result.outcome for result in self.report.rules}
        return [rule for rule in rules if not rule.last and outcomes.get(rule.name) in _KEPT]

    def left(self, rules: Sequence[Rule]) -> list[Rule]:
        """The rules that are tried now.

        Raises:
            CannotResume: there is nothing left but to judge the whole again.
        """
        kept = {rule.name for rule in self.kept(rules)}
        left = [rule for rule in rules if rule.name not in kept]
        came = {r.rule for r in self.report.rules if r.outcome in _KEPT}
        if all(rule.name in came for rule in left):
            raise CannotResume(f"run {self.name} came to its end; there is nothing left to try")
        return left

    def demand_same(
        self, flags: Sequence[str], settings: Settings, rules: Iterable[Rule], seed: int
    ) -> None:
        """See that the run is to go on as it began.

        Raises:
            CannotResume: target, settings, rules or seed differ; the message says in what.
        """
        was = self.report
        differences = []
        if list(flags) != was.endpoint.flags:
            differences.append(
                f"its endpoint was {_words(was.endpoint.flags)}, now it is {_words(flags)}"
            )
        now, then = (one.model_dump(exclude=_NOT_COMPARED) for one in (settings, was.settings))
        differences += [
            f"its {name.replace('_', ' ')} was {_shown(then[name])}, now it is {_shown(now[name])}"
            for name in now
            if now[name] != then[name]
        ]
        if {rule.name for rule in rules} != {result.rule for result in was.rules}:
            differences.append(f"it tried other rules: {len(was.rules)} of them")
        if seed != was.seed:
            differences.append(f"its seed was {was.seed}, now it is {seed}")
        if differences:
            raise CannotResume(
                f"run {self.name} cannot go on otherwise than it began: "
                f"{'; '.join(differences)}. Leave these options out, or start a new run"
            )

    def words(self) -> dict[str, str]:
        """The run's settings as its flags had them, by the names of the settings."""
        was = self.report
        flags = was.endpoint.flags
        words = {
            flag.removeprefix("--").replace("-", "_"): value
            for flag, value in zip(flags[::2], flags[1::2], strict=True)
        }
        claimed = was.settings.capabilities
        declined = [] if "verbatim" in claimed else ["verbatim"]
        if was.settings.track == "multimodal" and "images" not in claimed:
            declined.append("images")
        words |= {
            "track": was.settings.track,
            "seed": str(was.seed),
            "fuzz_budget": f"{was.settings.fuzz_budget:g}",
        }
        words |= {"without": ",".join(declined)} if declined else {}
        switches = {"strict": was.settings.strict, "quick": was.settings.quick}
        return words | {name: "true" for name, on in switches.items() if on}

    def measured(self) -> list[Exchange]:
        """The ordinary requests of the earlier parts, without their bodies."""
        urls = {"add": self.report.endpoint.add_url, "search": self.report.endpoint.search_url}
        operations: tuple[Operation, ...] = ("add", "search")
        parts = parts_of(self.events)
        seconds = [part.seconds for part in self.report.parts]
        return [
            Exchange(
                operation=operation,
                method="POST",
                url=urls[operation] or "",
                headers={},
                body=b"",
                status=timed.status,
                reply_headers={},
                reply=b"",
                seconds=timed.seconds,
                started=timed.started,
                error="sent before the run was resumed; the bodies were not kept",
            )
            for number, part in enumerate(parts)
            for operation in operations
            # Before the part that goes on, whose time begins with 0.
            for timed in timed_of(part, operation, later=-sum(seconds[number:]))
        ]


def latest_run(runs: Path) -> Path | None:
    """The directory of the run that wrote last."""
    found = [file for file in runs.glob("*/events.jsonl") if file.stat().st_size]
    return max(found, key=lambda file: file.stat().st_mtime_ns).parent if found else None


def find_run(named: str, runs: Path) -> Path:
    """The directory of a run by its name, by a path to it, or ``latest``.

    Raises:
        CannotResume: there is none.
    """
    if named == "latest":
        if found := latest_run(runs):
            return found
        raise CannotResume(f"there is no run in {runs}")
    for path in (runs / named, Path(named), Path(named).parent):
        if (path / "events.jsonl").is_file():
            return path
    raise CannotResume(f"there is no run {named} in {runs}")


def _words(flags: Sequence[str]) -> str:
    return " ".join(flags) or "none"


def _shown(value: object) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
