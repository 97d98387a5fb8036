"""Ways of remembering, each a :class:`aml_sdk.system.MemorySystem` in a module of its own."""
