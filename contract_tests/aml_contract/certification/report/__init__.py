"""Reports of a certification: live progress, the terminal, JSON, and one HTML page."""
