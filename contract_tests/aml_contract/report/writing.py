"""Writing reports: each file is there whole, or as it was before."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file in one step: no reader sees half of it, and no failure leaves half.

    What is no ordinary file (``/dev/stdout``, a pipe) is written as it is.

    Raises:
        OSError: it could not be written; what stood there before still does.
    """
    data = text.encode()
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            file.write(data)
        return
    path = Path(os.path.realpath(path))  # a link stays, what it leads to is replaced
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
