"""Property-based search for violations: generated requests, and histories against a model."""
