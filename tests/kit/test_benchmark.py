import re
import subprocess
import sys

from tests.kit.conftest import ROOT


def test_the_benchmark_of_checks_measures_one():
    words = [sys.executable, "benchmarks/checking.py", "--add", "0.05", "--search", "0.02"]
    ran = subprocess.run(
        [*words, "--only", "echo", "--only", "load/one-user"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    for name in ("echo/untouched", "load/one-user"):
        assert name in ran.stdout
    longest, slots, alone = map(
        float, re.search(r"longest (\S+) s, slots (\S+) s / 16, alone (\S+) s", ran.stdout).groups()
    )
    assert 0.1 <= longest <= slots  # two Adds one after the other, at the least
    assert slots >= 30 * 0.05
    assert alone > 0
    assert re.search(r"wall \S+ s = \S+ x \S+ s; at most 1.3 wanted", ran.stdout)
