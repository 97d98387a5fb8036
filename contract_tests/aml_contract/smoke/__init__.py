"""Real input: LoCoMo conversations sent as the platform would, and their questions asked.

A smoke run is a measurement, not a verdict: it says how much of the evidence comes back,
how fast and at what price in tokens. It stops at the first answer that breaks the contract,
as the platform does; ``aml check`` says what else is wrong.
"""
