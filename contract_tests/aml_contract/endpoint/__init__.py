"""What the kit talks to: a stranger's URLs, or a server that it starts itself."""
