"""A port belongs to one kit while its server starts."""

import socket
import subprocess
import sys

from aml_contract.endpoint import ports

_OTHER = """
import sys
from aml_contract.endpoint import ports
print(ports._claimed(int(sys.argv[1])))
"""


def other_kit_may_take(port):
    words = [sys.executable, "-c", _OTHER, str(port)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout == "True\n"


def test_another_kit_does_not_choose_it_until_it_is_released():
    port = ports.free_port()
    assert not other_kit_may_take(port) or not sys.platform.startswith("linux")
    with socket.create_server(("127.0.0.1", port)):
        ports.release_port(port)
    assert other_kit_may_take(port)
    ports.release_port(port)


def test_the_kits_own_choices_differ():
    chosen = [ports.free_port() for _ in range(50)]
    assert len(set(chosen)) == 50
    for port in chosen:
        ports.release_port(port)
