"""Credentials in what is declared, told by the forms that their makers gave them.

A form with a fixed beginning is nobody's prose and nobody's commit. Measures of randomness
were left out: they take digests, ids and names for keys.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_FORMS: Mapping[str, str] = {
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY",
    "an Anthropic key": r"\bsk-ant-[\w-]{20,}",
    "a provider's key": r"\bsk-(?:[A-Za-z0-9]{20,}|(?:proj|svcacct|admin|or-v1)-[\w-]{20,})",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{36,})",
    "a GitLab token": r"\bgl(?:pat|dt|rt|cbt|ptt)-[\w-]{20,}",
    "a Hugging Face token": r"\bhf_[A-Za-z0-9]{30,}",
    "a Google key": r"\bAIza[\w-]{35}",
    "an AWS key": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "an Alibaba Cloud key": r"\bLTAI[A-Za-z0-9]{12,}",
    "a Tencent Cloud key": r"\bAKID[A-Za-z0-9]{13,}",
    "a Slack token": r"\bxox[abeoprs]-[\w-]{10,}",
    "a PyPI token": r"\bpypi-[\w-]{50,}",
    "an npm token": r"\bnpm_[A-Za-z0-9]{36}",
    "a JSON web token": r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}",
    "a key in a header": r"(?i:\b(?:bearer|x-api-key)\b:?\s+)(?=\S*\d)[\w.~+/=-]{16,}",
    "a password in a URL": r"\b[a-z][a-z0-9+.-]*://[^\s/:@]*:[^\s/@]+@",
}


def credential_in(text: str) -> str | None:
    """What the text holds, as ``a GitHub token``; never the thing itself."""
    return next((name for name, form in _FORMS.items() if re.search(form, text)), None)
