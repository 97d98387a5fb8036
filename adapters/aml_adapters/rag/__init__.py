"""Retrieval as most build it: passages in Chroma, nearest neighbours of the question."""

try:
    from aml_adapters.rag.settings import RagSettings
    from aml_adapters.rag.system import RagMemory
except ModuleNotFoundError as error:
    if error.name not in {"chromadb", "filelock", "numpy"}:
        raise
    raise ModuleNotFoundError(
        f"the rag memory needs {error.name}: pip install 'aml-contract[rag]'", name=error.name
    ) from error

__all__ = ["RagMemory", "RagSettings"]
