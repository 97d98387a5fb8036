"""A data directory and the lock that makes one process its owner.

Each component that writes (``hybrid``, ``ledger``, …) holds a lock file of its own, so
that a memory system and the ledger share a directory without knowing of each other.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from filelock import FileLock, Timeout

from aml_sdk.errors import DataDirectoryBusy


class DataDirectory:
    """Ownership of ``component``'s files in a directory, held until :meth:`close`.

    The operating system drops the lock when the process ends, ``kill -9`` included.
    """

    def __init__(self, path: Path, component: str) -> None:
        """Make the directory if need be and own the component's part of it.

        Raises:
            DataDirectoryBusy: another owner is alive.
            OSError: the directory cannot be made or written.
        """
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        # Closing may happen on another thread than opening: the lock is not thread-local.
        self._lock = FileLock(path / f"{component}.lock", thread_local=False)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise DataDirectoryBusy(
                f"{path} is in use: another process holds {component}.lock"
            ) from None

    def close(self) -> None:
        """Give the component's part of the directory up; a second call does nothing."""
        self._lock.release()

    def __enter__(self) -> DataDirectory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
