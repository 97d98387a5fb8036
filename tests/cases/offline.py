"""Takes the network away from Python processes, and writes down who looked for it."""

import shlex

_HOOK = """
import os, sys

LOG = {log!r}
LOCAL = ("127.0.0.1", "::1", "localhost", "0.0.0.0", "", None)

def hook(event, arguments):
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if host not in LOCAL:
        with open(LOG, "a") as log:
            print(event, host, file=log)
        raise PermissionError(f"no network here: {{host}}")

sys.addaudithook(hook)
"""


def deny_network(directory):
    """Words of a shell that go before a command, so that its Pythons have no network."""
    place = directory / "offline"
    place.mkdir()
    (place / "sitecustomize.py").write_text(_HOOK.format(log=str(directory / "attempts")))
    return f"PYTHONPATH={shlex.quote(str(place))}"


def attempts(directory):
    """What was tried in spite of it."""
    log = directory / "attempts"
    return log.read_text().splitlines() if log.exists() else []
