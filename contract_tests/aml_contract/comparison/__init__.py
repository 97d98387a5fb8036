"""Endpoints side by side: what their reports say rule by rule, and what changed between two."""
