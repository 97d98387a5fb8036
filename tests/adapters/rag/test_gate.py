"""One alone is alone, and is not kept waiting by those who come after."""

import threading

import pytest

from aml_adapters.rag.gate import Gate


def test_nobody_is_inside_beside_one_alone():
    gate, inside, alone, seen = Gate(), [], [], []
    start = threading.Barrier(9)

    def many():
        start.wait()
        for _ in range(200):
            with gate.many():
                inside.append(1)
                seen.append(bool(alone))
                inside.pop()

    def one():
        start.wait()
        for _ in range(50):
            with gate.alone():
                alone.append(1)
                seen.append(bool(inside))
                alone.pop()

    threads = [threading.Thread(target=work) for work in [many] * 8 + [one]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(seen) == 8 * 200 + 50
    assert not any(seen)


@pytest.mark.parametrize("way", ["alone", "many"])
def test_an_error_inside_lets_others_in(way):
    gate = Gate()
    with pytest.raises(KeyError), getattr(gate, way)():
        raise KeyError
    with gate.alone():
        pass
