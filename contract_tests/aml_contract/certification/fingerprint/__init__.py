"""The fingerprint of a version: what it answers about canaries, as far as that is steady.

Canaries are memories and questions of the kit's own. A later run stores the same texts for new
users and compares the answers, so it can tell another version behind the same URL; whether the
canaries of the certified run are still there is another question, asked of its users.
"""

from aml_contract.certification.fingerprint.comparing import Comparison, Sameness, compare
from aml_contract.certification.fingerprint.model import Fingerprint
from aml_contract.certification.fingerprint.stage import FingerprintStage

__all__ = ["Comparison", "Fingerprint", "FingerprintStage", "Sameness", "compare"]
