"""What a certification began with: it goes on with the same, or not at all."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any, Literal

from aml_contract.certification.certificate.statement import Kit, Requirements
from aml_contract.certification.configuration import without_commands
from aml_contract.certification.declaration import Declaration
from aml_contract.certification.stage import Basis
from aml_contract.config import Resolved
from aml_contract.documented import Documented
from aml_contract.endpoint.target import Target
from aml_contract.run import new_run_id

_HOOKS = ("restart_cmd", "fault_cmd", "heal_cmd")


class Beginning(Documented):
    """What a certification began with."""

    form: Literal["aml-certification-begun/1"] = "aml-certification-begun/1"
    run_id: str
    """Its name."""
    began: str
    """When, in ISO 8601 with offset."""
    seed: int
    """Chooses its course."""
    kit: Kit
    requirement_set: Requirements
    declaration: Declaration
    target: list[str]
    """The options of ``aml check`` that name the endpoint; the key only by its variable."""
    hooks: dict[str, str]
    """The beginning of the SHA-256 of each command of an operator, by its setting; commands hold
    hosts, users and tokens."""
    declined: list[str]
    """Capabilities that the settings decline."""
    allow_private: bool
    """Whether it is a rehearsal, where less is allowed than the platform demands."""
    volume: int | None
    """Adds of the run to be forecast, if not those of a Full run."""

    def differences(self, now: Beginning) -> list[str]:
        """What is another now than it was, each as the part of a sentence."""
        pairs = [
            ("kit", _kit(self), _kit(now)),
            ("requirement set", _set(self), _set(now)),
            ("seed", self.seed, now.seed),
            ("endpoint", " ".join(self.target), " ".join(now.target)),
            ("list of [hooks]", self.hooks, now.hooks),
            ("list of declined capabilities", self.declined, now.declined),
            ("--allow-private", self.allow_private, now.allow_private),
            ("--volume", self.volume, now.volume),
        ]
        declared, declares = self.declaration.model_dump(), now.declaration.model_dump()
        pairs += [(f"{name} in [declaration]", declared[name], declares[name]) for name in declared]
        return [
            f"its {name} was {_shown(then)}, now it is {_shown(value)}"
            for name, then, value in pairs
            if then != value
        ]


def beginning_of(  # noqa: PLR0913  all that must stay as it is
    basis: Basis,
    settings: Resolved,
    target: Target,
    *,
    seed: int,
    allow_private: bool = False,
    volume: int | None = None,
) -> Beginning:
    """What a certification begins with now.

    Args:
        basis: the declaration and the requirement set.
        settings: those of the endpoint's file.
        target: the endpoint.
        seed: chooses its course.
        allow_private: whether it is a rehearsal.
        volume: Adds of the run to be forecast.
    """
    requirements = basis.requirements
    return Beginning(
        run_id=new_run_id(),
        began=datetime.now(UTC).isoformat(),
        seed=seed,
        kit=Kit.installed(),
        requirement_set=Requirements(
            name=requirements.name, track=requirements.track, digest=requirements.digest
        ),
        declaration=basis.declaration,
        target=without_commands([target.credentials.redact(flag) for flag in target.flags]),
        hooks={
            name: hashlib.sha256(settings[name].encode()).hexdigest()[:12]
            for name in _HOOKS
            if settings[name]
        },
        declined=sorted(settings["without"]),
        allow_private=allow_private,
        volume=volume,
    )


def _kit(one: Beginning) -> str:
    return f"{one.kit.version} ({one.kit.digest[:12]})"


def _set(one: Beginning) -> str:
    named = one.requirement_set
    return f"{named.name} for {named.track} ({named.digest[:12]})"


def _shown(value: Any) -> str:
    match value:
        case None | False | "" | []:
            return "not given"
        case True:
            return "given"
        case list():
            return ", ".join(map(str, value))
        case dict():
            return "; ".join(f"{name}: {one}" for name, one in value.items()) or "not given"
        case _:
            return str(value)
