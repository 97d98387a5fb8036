"""A builder's project, made by ``aml new`` from the template beside this file."""
