"""The ledgers alone: claims, durability, many at once."""

import asyncio
import sqlite3

import pytest

from aml_sdk import DataDirectoryBusy, MemoryLedger, SQLiteLedger
from aml_sdk.ledger import AddKey, Claim

KEY = AddKey("u", "r")


@pytest.fixture(params=["memory", "sqlite"])
def ledger(request, tmp_path):
    return MemoryLedger() if request.param == "memory" else SQLiteLedger(tmp_path)


def test_the_life_of_a_claim(ledger):
    async def life():
        assert await ledger.open() == []
        assert await ledger.claim(KEY, b"1") is Claim.NEW
        assert await ledger.claim(KEY, b"1") is Claim.PENDING
        assert await ledger.claim(KEY, b"2") is Claim.CONFLICT
        await ledger.complete(KEY)
        assert await ledger.claim(KEY, b"1") is Claim.DONE
        assert await ledger.claim(KEY, b"2") is Claim.CONFLICT
        other = AddKey("u", "refused")
        assert await ledger.claim(other, b"1") is Claim.NEW
        await ledger.release(other)
        assert await ledger.claim(other, b"2") is Claim.NEW
        await ledger.close()

    asyncio.run(life())


@pytest.mark.parametrize(
    "odd", ["a\x00b", "a", "A", "a ", "%", "e\u0301", "\u00e9", "漢", "x" * 999]
)
def test_keys_are_exact(tmp_path, odd):
    async def claims():
        ledger = SQLiteLedger(tmp_path)
        await ledger.open()
        assert await ledger.claim(AddKey(odd, odd), b"1") is Claim.NEW
        assert await ledger.claim(AddKey(odd + "x", odd), b"2") is Claim.NEW
        assert await ledger.claim(AddKey(odd.swapcase() + "1", odd), b"3") is Claim.NEW
        await ledger.close()
        again = SQLiteLedger(tmp_path)
        assert AddKey(odd, odd) in await again.open()
        await again.close()

    asyncio.run(claims())


def test_many_at_once_share_commits_and_all_are_kept(tmp_path):
    keys = [AddKey(f"u{number % 7}", f"r{number}") for number in range(1000)]

    async def crowd():
        ledger = SQLiteLedger(tmp_path)
        await ledger.open()
        claims = await asyncio.gather(*[ledger.claim(key, b"d") for key in keys])
        assert set(claims) == {Claim.NEW}
        await asyncio.gather(*[ledger.complete(key) for key in keys[::2]])
        await ledger.close()

    asyncio.run(crowd())

    async def after():
        ledger = SQLiteLedger(tmp_path)
        pending = await ledger.open()
        await ledger.close()
        return pending

    assert sorted(asyncio.run(after())) == sorted(keys[1::2])


def test_the_file_is_as_durable_as_it_says(tmp_path):
    ledger = SQLiteLedger(tmp_path)
    connection = ledger._connect()
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    connection.close()
    asyncio.run(ledger.close())


def test_one_process_owns_it(tmp_path):
    first = SQLiteLedger(tmp_path)
    with pytest.raises(DataDirectoryBusy, match=r"ledger\.lock"):
        SQLiteLedger(tmp_path)
    asyncio.run(first.close())
    asyncio.run(SQLiteLedger(tmp_path).close())


def test_a_cancelled_waiter_does_not_stop_the_writer(tmp_path):
    async def cancelled():
        ledger = SQLiteLedger(tmp_path)
        await ledger.open()
        task = asyncio.create_task(ledger.claim(KEY, b"1"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await ledger.claim(AddKey("u", "next"), b"1") is Claim.NEW
        await ledger.close()

    asyncio.run(cancelled())


@pytest.mark.parametrize("error", [sqlite3.OperationalError("disk I/O error"), ValueError("odd")])
def test_one_bad_operation_fails_alone(tmp_path, error):
    async def mixed():
        ledger = SQLiteLedger(tmp_path)
        await ledger.open()

        def broken(connection):
            raise error

        results = await asyncio.gather(
            ledger.claim(KEY, b"1"),
            ledger._do(broken),
            ledger.claim(AddKey("u", "2"), b"1"),
            return_exceptions=True,
        )
        await ledger.close()
        return results

    first, failed, last = asyncio.run(mixed())
    assert (first, last) == (Claim.NEW, Claim.NEW)
    assert "ledger cannot be written" in str(failed)


def test_a_file_that_is_no_ledger_is_named(tmp_path):
    (tmp_path / "ledger.sqlite3").write_bytes(b"something else" * 1_000)
    ledger = SQLiteLedger(tmp_path)
    with pytest.raises(OSError, match=r"ledger\.sqlite3: file is not a database"):
        asyncio.run(ledger.open())
    asyncio.run(ledger.close())
