"""Ways of trying that several rules share."""
