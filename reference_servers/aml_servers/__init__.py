"""A memory system behind the SDK's server: what ``aml serve`` runs."""
