"""Axes: where values stand in a picture, and the marks beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 640, 240
"""Units of a picture."""
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 12, 36
"""How much of it is around the field."""
_STEPS = (1, 2, 5)


@dataclass(frozen=True)
class Tick:
    """A mark on an axis: where, and what it says."""

    at: float
    text: str


@dataclass(frozen=True)
class Scale:
    """From values to places; logarithmic if ``log``."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value."""
        low, high, value = (
            (math.log10(each) for each in (self.low, self.high, max(value, self.low)))
            if self.log
            else (self.low, self.high, value)
        )
        return round(self.start + (value - low) / (high - low) * (self.end - self.start), 1)


def across(low: float, high: float, *, log: bool = False) -> Scale:
    """From the left of the field to its right."""
    return Scale(low, high, LEFT, WIDTH - RIGHT, log)


def upwards(low: float, high: float, *, log: bool = False) -> Scale:
    """From the bottom of the field to its top."""
    return Scale(low, high, HEIGHT - BOTTOM, TOP, log)


def path_of(points: Sequence[tuple[float, float]]) -> str:
    """Points as a line of SVG."""
    return " ".join(f"{'L' if n else 'M'}{x} {y}" for n, (x, y) in enumerate(points))


def in_units(seconds: float) -> str:
    """A round time: ``5 ms``, ``2 s``."""
    return f"{seconds * 1000:g} ms" if seconds < 0.9999 else f"{seconds:g} s"


def around(least: float, most: float) -> tuple[float, float]:
    """Round values, one below and one above."""
    low = max(step for step in _round_steps(least) if step < least)
    return low, min(step for step in _round_steps(most) if step > most)


def log_marks(low: float, high: float) -> list[float]:
    """Round values on a logarithmic axis."""
    first, last = math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1
    marks = [step * 10.0**n for n in range(first, last + 1) for step in _STEPS]
    marks = [mark for mark in marks if low * 0.999 <= mark <= high * 1.001]
    if len(marks) > 7:  # more than that no picture has room for
        marks = [mark for mark in marks if math.isclose(math.log10(mark) % 1, 0, abs_tol=1e-6)]
    return marks


def linear_marks(end: float) -> list[float]:
    """Round values on an axis that begins with 0."""
    step = next(
        candidate
        for power in range(-4, 8)
        for candidate in (step * 10.0**power for step in _STEPS)
        if end / candidate <= 6
    )
    return [round(n * step, 6) for n in range(int(end / step) + 1)]


def _round_steps(value: float) -> list[float]:
    """1, 2 and 5 times the powers of ten around ``value``."""
    exponent = math.floor(math.log10(value))
    return [step * 10.0 ** (exponent + more) for more in (-1, 0, 1) for step in _STEPS]
