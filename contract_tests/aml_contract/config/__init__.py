"""Settings: one table of them, and where each value comes from.

Imports nothing heavy: the command line and the pytest plugin make their options from it.
"""

from aml_contract.config.resolve import Resolved, resolve
from aml_contract.config.settings import REPORT_FILES, SETTINGS, Setting, settings_of
from aml_contract.config.values import ConfigError

__all__ = [
    "REPORT_FILES",
    "SETTINGS",
    "ConfigError",
    "Resolved",
    "Setting",
    "resolve",
    "settings_of",
]
