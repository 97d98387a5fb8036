"""The target that settings describe."""

from __future__ import annotations

from aml_contract.config.resolve import DEFAULT, Resolved
from aml_contract.endpoint.target import Target, TargetError

_FIELDS = {"data": "data_dir"}
_OF_TARGET = (
    *("url", "add_url", "search_url", "health_url", "cmd", "app", "system", "data"),
    *("auth", "key_env", "restart_cmd", "fault_cmd", "heal_cmd"),
    *("concurrency", "add_concurrency", "search_concurrency", "timeout"),
)


def target_from(settings: Resolved) -> Target:
    """The target of these settings; the key is read from its variable.

    Raises:
        TargetError: they make no sense together; the message says why.
    """
    given = {_FIELDS.get(name, name): settings[name] for name in _OF_TARGET if name in settings}
    if given["auth"] == "none" and settings.origin("auth") != DEFAULT:
        given["key_env"] = None  # said on purpose, over a file that names a key
    try:
        return Target.keyed_by_environment(**given)
    except TargetError as error:
        if "no endpoint was named" not in str(error):
            raise
        if settings.empty:
            raise TargetError(f"{error} ({_listed(settings.empty)} set, but empty)") from error
        if settings.files:
            read = " and ".join(settings.files)
            named = f"{read} {'names' if len(settings.files) == 1 else 'name'} none"
            raise TargetError(f"{error}; {named}, and files further up are not read") from error
        raise


def _listed(variables: tuple[str, ...]) -> str:
    names = " and ".join(f"${name}" for name in variables)
    return f"{names} {'is' if len(variables) == 1 else 'are'}"
