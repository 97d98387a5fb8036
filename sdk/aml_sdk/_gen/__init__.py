"""Generated from ``proto/aml/memory/v1/memory.proto`` by ``scripts/generate``; do not edit."""
