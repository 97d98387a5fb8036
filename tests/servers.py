"""Servers for tests, on real sockets: an application in a thread, a command in a process."""

import contextlib
import socket
import subprocess
import threading
import time

import uvicorn

from aml_contract.endpoint.ports import free_port

_BACKLOG = 512


@contextlib.contextmanager
def in_thread(app, *, patient=True, host="127.0.0.1", port=0, **config):
    """Serve an ASGI application until the block ends; gives its URL.

    It shuts down as on SIGTERM; unless ``patient``, although requests are under way.
    ``config`` is uvicorn's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    config = {"log_config": None, "access_log": False, "backlog": _BACKLOG, **config}
    server = uvicorn.Server(uvicorn.Config(app, **config))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    eventually(lambda: server.started or not thread.is_alive())
    assert server.started, "the server did not start"
    try:
        scheme = "https" if "ssl_certfile" in config else "http"
        at = f"[{host}]" if ":" in host else host
        yield f"{scheme}://{at}:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        server.force_exit = not patient
        thread.join(30)
        assert not thread.is_alive(), "the server did not shut down"


class Started:
    """A server in a process of its own, which listens."""

    def __init__(self, child, port):
        self.child = child
        self.port = port
        self.url = f"http://127.0.0.1:{port}"

    def stop(self):
        """Stop it politely; its exit code."""
        self.child.terminate()
        return self.child.wait(timeout=60)


@contextlib.contextmanager
def in_process(words, *, patience=60, **popen):
    """Run a command until the block ends, ``{port}`` in it replaced by a free one.

    It may take ``patience`` seconds until it listens. ``popen`` is for
    :class:`subprocess.Popen`. What still runs in the end is killed.
    """
    port = free_port()
    child = subprocess.Popen([str(word).replace("{port}", str(port)) for word in words], **popen)

    def listens():
        assert child.poll() is None, "the server ended"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return True
        return False

    try:
        eventually(listens, seconds=patience)
        yield Started(child, port)
    finally:
        child.kill()
        child.wait()


def eventually(condition, *, seconds=30):
    """Wait until the condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "did not come true in time"
        time.sleep(0.01)
