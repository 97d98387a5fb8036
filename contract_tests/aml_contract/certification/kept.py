"""What of a certification is kept on disk, so that it goes on when it was killed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock, Timeout
from pydantic import ValidationError

from aml_contract.certification.beginning import Beginning
from aml_contract.certification.stage import ORDER, StageResult
from aml_contract.documented import Documented
from aml_contract.report.writing import write_whole

_Document = TypeVar("_Document", bound=Documented)


class CannotGoOn(ValueError):  # noqa: N818  a state of the world, told to the user
    """The certification cannot begin, or go on, as asked; the message says what to do."""


class NotKept(Exception):  # noqa: N818  a state of the world, told to the user
    """Something could not be written; the message says what and why."""


class Clock(Documented):
    """When a stage began, and how long it has taken in the sittings so far."""

    began: str
    """In ISO 8601 with offset."""
    seconds: float = 0.0


class Kept:
    """The directory of one certification; :func:`opened` makes it this process's own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._beginning = directory / "certification.json"

    def earlier(self) -> Beginning | None:
        """What the certification in it began with; ``None`` if there is none.

        Raises:
            CannotGoOn: it cannot be read.
        """
        return _read(Beginning, self._beginning) if self._beginning.exists() else None

    def begin(self, beginning: Beginning) -> Beginning:
        """Begin a certification.

        Raises:
            CannotGoOn: there is one already.
            NotKept: what it begins with cannot be written.
        """
        if there := self.earlier():
            raise CannotGoOn(
                f"{self.directory} holds the certification {there.run_id}: --resume goes on with "
                "it, and --out DIR names another directory"
            )
        _write(self._beginning, beginning)
        return beginning

    def go_on(self, now: Beginning) -> Beginning:
        """Go on with the certification that is there; its name and its seed stay.

        Raises:
            CannotGoOn: there is none, or it began with something else.
        """
        there = self.earlier()
        if there is None:
            raise CannotGoOn(
                f"{self.directory} holds no certification to go on with: leave --resume out"
            )
        if differences := there.differences(now):
            raise CannotGoOn(
                f"the certification {there.run_id} cannot go on otherwise than it began: "
                f"{'; '.join(differences)}. Undo that, or begin anew with another --out"
            )
        return there

    def results(self) -> dict[str, StageResult]:
        """The finished stages, in their order.

        Raises:
            CannotGoOn: one cannot be read.
        """
        return {
            name: _read(StageResult, self._stage(name))
            for name in ORDER
            if self._stage(name).exists()
        }

    def keep(self, result: StageResult) -> None:
        """Keep a finished stage, whole or not at all.

        Raises:
            NotKept: it cannot be written.
        """
        _write(self._stage(result.stage), result)

    def work(self, stage: str) -> Path:
        """The directory in which a stage leaves what it needs to go on.

        Raises:
            NotKept: it cannot be made.
        """
        directory = self.directory / "work" / stage
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _not_kept(directory, error) from error
        return directory

    def clock(self, stage: str) -> Clock:
        """How long earlier sittings took; a new one if there was none."""
        with suppress(CannotGoOn):
            return _read(Clock, self._clock(stage))
        return Clock(began=datetime.now(UTC).isoformat())

    def keep_clock(self, stage: str, clock: Clock) -> None:
        """Keep how long a stage has taken; a full disk costs the figure, nothing else."""
        with suppress(NotKept):
            _write(self._clock(stage), clock)

    def _stage(self, name: str) -> Path:
        return self.directory / "stages" / f"{name}.json"

    def _clock(self, stage: str) -> Path:
        return self.directory / "work" / f"{stage}.json"


@contextmanager
def opened(directory: Path) -> Iterator[Kept]:
    """The directory of a certification, for this process alone.

    The operating system gives it free when the process ends, ``kill -9`` included.

    Raises:
        CannotGoOn: another process certifies in it, or it cannot be written.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = FileLock(directory / "certification.lock").acquire(timeout=0)
    except Timeout:
        raise CannotGoOn(
            f"another certification is under way in {directory}: wait for its end, or name "
            "another directory"
        ) from None
    except OSError as error:
        raise CannotGoOn(f"{directory} cannot be used: {error.strerror or error}") from error
    with lock:
        yield Kept(directory)


def plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """Data as they are read back from a file: half a surrogate pair has no place in one."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    found: dict[str, Any] = json.loads(text.encode(errors="replace"))
    return found


def _write(path: Path, document: Documented) -> None:
    try:
        write_whole(path, document.model_dump_json(indent=2) + "\n")
    except OSError as error:
        raise _not_kept(path, error) from error


def _not_kept(path: Path, error: OSError) -> NotKept:
    return NotKept(f"{path} could not be written: {error.strerror or error}")


def _read(form: type[_Document], path: Path) -> _Document:
    try:
        return form.model_validate_json(path.read_bytes())
    except OSError as error:
        raise CannotGoOn(f"{path} cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        raise CannotGoOn(
            f"{path} is not what the kit wrote there: name another directory, and begin anew"
        ) from error
