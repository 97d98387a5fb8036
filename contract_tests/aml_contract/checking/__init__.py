"""A check: the selected rules tried on one endpoint, and what is kept of it."""
