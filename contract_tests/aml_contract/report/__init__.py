"""Reports: what a run found, for people and for programs, made from its events."""
