"""A declaration that is complete, and what is judged beside it."""

from pathlib import Path

from aml_contract.certification.declaration import Declaration
from aml_contract.certification.declaration.checklist import CHECKLIST
from aml_contract.certification.stage import Basis, Context
from aml_contract.config import resolve
from aml_contract.config.target import target_from

OPEN_SOURCE = {
    "system": "hybrid",
    "version": "1.4.2",
    "track": "textual",
    "division": "open-source",
    "repository": "https://code.example/team/hybrid",
    "commit": "0123456789abcdef0123456789abcdef01234567",
    "attribution": "none",
    "changes": "none",
    "add_models": ["gpt-4o-mini"],
    "search_models": ["none"],
    "embedding_model": "text-embedding-v4",
    "add_concurrency": 16,
    "search_concurrency": 32,
    "add_timeout": 60.0,
    "search_timeout": 30.0,
    "rate_limits": "none",
    "retention_days": 14,
    "contact": "oncall@memory.example",
    "review": {row.number: row.example for row in CHECKLIST},
}
COMMERCIAL = {
    name: value
    for name, value in OPEN_SOURCE.items()
    if name not in ("repository", "commit", "attribution", "changes")
} | {"division": "commercial", "product_version": "2026.09.1"}


def declared(**changes):
    """The open-source declaration with changes; ``None`` takes a field out."""
    stated = {**OPEN_SOURCE, **changes}
    return Declaration(**{name: value for name, value in stated.items() if value is not None})


def context(declaration, *, allow_private=False, directory=Path(), **settings):
    """What a stage measures with: these settings, and no requirements."""
    resolved = resolve(settings, environ={}, look=False)
    return Context(
        settings=resolved,
        target=target_from(resolved),
        basis=Basis(declaration, None),
        directory=directory,
        run_id="run",
        seed=1,
        allow_private=allow_private,
    )
