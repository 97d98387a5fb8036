"""Ledgers: what the server remembers about Adds, so that a repeat is stored once."""

from aml_sdk.ledger.base import AddKey, Claim, Ledger
from aml_sdk.ledger.digest import body_digest
from aml_sdk.ledger.memory import MemoryLedger
from aml_sdk.ledger.sqlite import SQLiteLedger

__all__ = ["AddKey", "Claim", "Ledger", "MemoryLedger", "SQLiteLedger", "body_digest"]
