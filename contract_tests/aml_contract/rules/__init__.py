"""The rules, one family a module."""
