"""The conformance kit: judges an Add/Search endpoint by the contract."""
