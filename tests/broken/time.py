"""Servers that misread, refuse or invent times."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tests.broken.correct import Correct, RefusedError


class EndsIn2100(Correct):
    kills = {"time/far-future": "timestamp 4102444800001 was answered 422"}

    def check_timestamp(self, timestamp):
        checked = super().check_timestamp(timestamp)
        if checked is not None and checked > 4_102_444_800_000:
            raise RefusedError(422, "timestamp lies too far in the future")
        return checked


class LosesTheFuture(Correct):
    """Swallows the overflow, and the message with it."""

    kills = {"time/far-future": "timestamp 7258118400000 was acknowledged and is not found"}

    def index(self, add):
        kept = tuple(m for m in add.messages if (m.timestamp or 0) < 7_000_000_000_000)
        super().index(replace(add, messages=kept))


class RequiresTimestamps(Correct):
    kills = {"time/optional": "a message without a timestamp was answered 422"}

    def check_timestamp(self, timestamp):
        if timestamp is None:
            raise RefusedError(422, "timestamp is missing")
        return super().check_timestamp(timestamp)


class InventsTheFuture(Correct):
    kills = {"time/no-invented-future": "came back with created_at"}

    def created_at(self, timestamp):
        if timestamp is None:
            return (datetime.now(UTC) + timedelta(days=365)).isoformat()
        return super().created_at(timestamp)


class ReadsMicroseconds(Correct):
    kills = {"time/milliseconds": "(2024-01-01) came back as 1970-01-20"}

    def created_at(self, timestamp):
        return None if timestamp is None else super().created_at(timestamp // 1000)


class ReadsSeconds(Correct):
    """Tells the date in the text, in the year 55,969."""

    kills = {"time/milliseconds": "is told as 55969 in content"}

    def content_of(self, memory):
        seconds = memory.message.timestamp or 0
        year = 1970 + int(seconds / 31_556_952)
        return f"[{year}-02-02] {memory.message.content}"

    def created_at(self, timestamp):
        return None


class GuessesTheUnit(Correct):
    """Small numbers must be seconds."""

    kills = {"time/small-milliseconds": "(1970-01-02) came back as 1972"}

    def created_at(self, timestamp):
        if timestamp is not None and timestamp < 10**11:
            timestamp *= 1000
        return super().created_at(timestamp)


class RefusesDecimalPoints(Correct):
    kills = {
        "time/integral-float": "timestamp 1704067200000.0 was answered 422",
        "time/fraction": "refused: timestamp 1704067200000.5 (422)",
    }

    def check_timestamp(self, timestamp):
        if isinstance(timestamp, float):
            raise RefusedError(422, "timestamp must be an integer")
        return super().check_timestamp(timestamp)


class CrashesOnFractions(Correct):
    kills = {"time/fraction": "timestamp 1704067200000.5 was answered 500"}

    def check_timestamp(self, timestamp):
        checked = super().check_timestamp(timestamp)
        if checked is not None and checked != timestamp:
            raise ValueError("no fraction expected")
        return checked


class ZeroIsNow(Correct):
    kills = {"time/zero": "the hour of storing"}

    def created_at(self, timestamp):
        if timestamp == 0:
            return datetime.now(UTC).isoformat()
        return super().created_at(timestamp)


class DatedByArrival(Correct):
    kills = {"time/event-date": "and no other date"}

    def created_at(self, timestamp):
        return datetime.now(UTC).isoformat()


class Dateless(Correct):
    kills = {"time/event-date": "without any date"}

    def created_at(self, timestamp):
        return None
