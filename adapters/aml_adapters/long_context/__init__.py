"""The upper control: everything is kept, and whole sessions fill what the reader can read."""

from importlib.util import find_spec

_missing = next((name for name in ("bpe_openai", "filelock") if find_spec(name) is None), None)
if _missing:
    raise ModuleNotFoundError(
        f"the long-context memory needs {_missing}: pip install 'aml-contract[long-context]'",
        name=_missing,
    )

from aml_adapters.long_context.system import LongContextMemory, LongContextSettings  # noqa: E402

__all__ = ["LongContextMemory", "LongContextSettings"]
