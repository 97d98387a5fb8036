"""The stage ``declaration``: complete, consistent, and without a secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from aml_contract.certification.declaration.checks import Circumstances, grounds
from aml_contract.certification.grounds import judged
from aml_contract.certification.stage import Basis, Context, Judgement
from aml_contract.config import Resolved
from aml_contract.config.resolve import DEFAULT


class DeclarationStage:
    """Judges what is declared, and sends nothing."""

    name: ClassVar[str] = "declaration"

    async def measure(self, context: Context) -> dict[str, Any]:
        """Note the settings that the declaration is compared with.

        Returns:
            :class:`~aml_contract.certification.declaration.checks.Circumstances` as JSON.
        """
        settings, key = context.settings, context.target.key
        texts = context.basis.declaration.texts
        return Circumstances(
            track=settings["track"],
            auth=str(context.target.auth),
            timeout=_given(settings, "timeout"),
            add_concurrency=_given(settings, "add_concurrency"),
            search_concurrency=_given(settings, "search_concurrency"),
            fault=bool(context.target.fault_cmd),
            allow_private=context.allow_private,
            key_in=[name for name, text in texts.items() if key and key in text],
        ).model_dump(mode="json")

    def judge(self, data: Mapping[str, Any], basis: Basis) -> Judgement:
        """Judge the declaration beside those settings."""
        declared = basis.declaration
        good = (
            f"{declared.system} {declared.version} is declared for {declared.track}, "
            f"{declared.division}: complete and consistent."
        )
        return judged(grounds(declared, Circumstances.model_validate(data)), good)


def _given(settings: Resolved, name: str) -> Any:
    """A setting's value where one was given."""
    return settings[name] if name in settings and settings.origin(name) != DEFAULT else None
