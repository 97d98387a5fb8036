"""What was measured of the kit, the memories and the server; each module is a command."""
