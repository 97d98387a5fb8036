"""The tutorial as a program: its commands in order, in one shell, as a reader types them."""

import subprocess

from tests.docs.pages import TUTORIAL, blocks_of

UNTIL_HEALTHY = """ &
server=$!
trap 'kill "$server"' EXIT
for _ in $(seq 200); do
  if curl -sf http://127.0.0.1:8080/health >/dev/null; then break; fi
  sleep 0.1
done
"""


def script(port, *, without=()):
    """Its commands; the server, which it gives a terminal of its own, in the background.

    Commands that begin with one of ``without`` are left out.
    """
    lines = []
    for block in blocks_of(TUTORIAL):
        if block.language == "sh":
            lines += block.text.splitlines()
    kept = [line for line in lines if not line.startswith(tuple(without))]
    served = [line + UNTIL_HEALTHY if line.startswith("aml serve") else line for line in kept]
    return "\n".join(served).replace("8080", str(port))


def follow(text, cwd, environment, timeout=1500):
    """Type all of it; the first command that fails ends it."""
    return subprocess.run(
        ["bash", "-exuo", "pipefail", "-c", text],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
