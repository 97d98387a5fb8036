"""The ``aml`` command."""
