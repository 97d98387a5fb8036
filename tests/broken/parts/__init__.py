"""The parts of the correct server, one concern each: every method is a promise to break."""
