"""Certification: what organisers must know of an endpoint before a Full run."""
