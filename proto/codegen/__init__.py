"""Writes everything that follows from ``memory.proto``: models, stubs, client, router, document."""
