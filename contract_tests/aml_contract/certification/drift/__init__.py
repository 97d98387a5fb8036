"""Drift: whether what answers now is still what was certified."""
