"""The reference memory behind TLS, as an entrant runs it: ``python -m … DATA PORT CERT KEY``."""

import sys
from pathlib import Path

import uvicorn

from aml_sdk.server import Settings
from aml_servers.serving import build_app, key_from_environment

if __name__ == "__main__":
    data, port, certificate, key = sys.argv[1:]
    settings = Settings(auth="bearer", key=key_from_environment("MEMORY_KEY"))
    uvicorn.run(
        build_app("hybrid", Path(data), settings),
        port=int(port),
        ssl_certfile=certificate,
        ssl_keyfile=key,
        log_level="warning",
    )
