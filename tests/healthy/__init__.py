"""Servers that are right, each written in a way of its own: the kit must not fail them."""
