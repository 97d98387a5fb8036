"""Makes the documentation site: the pages of ``docs/``, and those made from the kit itself."""
