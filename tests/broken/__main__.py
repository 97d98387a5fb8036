"""Starts one of the servers: ``python -m tests.broken NAME --port P --data DIR``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import uvicorn

from tests.broken import servers


def main() -> None:
    """Read the command line and serve until stopped."""
    known = servers()
    parser = argparse.ArgumentParser(prog="python -m tests.broken")
    parser.add_argument("name", nargs="?", choices=sorted(known), metavar="NAME")
    parser.add_argument("--list", action="store_true", help="name every server")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--data", type=Path, help="directory; in memory if not given")
    parser.add_argument("--auth", choices=("none", "bearer", "token", "x-api-key"), default="none")
    parser.add_argument("--key-env", metavar="VAR", default="AML_KEY")
    chosen = parser.parse_args()
    if chosen.list:
        for name, server in sorted(known.items()):
            print(name, *sorted(server.kills))
        return
    if chosen.name is None:
        parser.error("NAME is missing; see --list")
    app = known[chosen.name](
        chosen.data, scheme=chosen.auth, key=os.environ.get(chosen.key_env, "")
    )
    uvicorn.run(app, **app.uvicorn_settings(), host=chosen.host, port=chosen.port)


if __name__ == "__main__":
    main()
