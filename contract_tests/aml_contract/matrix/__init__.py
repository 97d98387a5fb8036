"""The matrix: every server of a collection tried by every rule, cell by cell."""
