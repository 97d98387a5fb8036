"""A certificate, the keys that sign it, and ways to change both."""

import base64
import json
from datetime import UTC, datetime, timedelta

from securesystemslib.signer import CryptoSigner

from aml_contract.certification.certificate import TrustedKey, TrustStore, issue
from aml_contract.certification.certificate.envelope import sealed
from aml_contract.certification.certificate.keys import public_pem
from aml_contract.certification.contract import ContractData, ContractStage
from aml_contract.certification.requirements import requirements_for
from aml_contract.certification.stage import (
    ORDER,
    Basis,
    Judgement,
    Problem,
    StageResult,
    StageVerdict,
)
from aml_contract.checking.document import EndpointInfo, Report, Settings
from aml_contract.checking.result import RuleResult
from aml_contract.outcome import Outcome, Verdict
from tests.certification.declared import declared

ISSUED = datetime(2026, 9, 1, 12, tzinfo=UTC)
LATER = ISSUED + timedelta(days=10)
DAY = timedelta(days=1)
ADD_URL, SEARCH_URL = "https://memory.example/add", "https://memory.example/search"
REQUIREMENTS = requirements_for("textual")


class Recorded:
    """A stage that was measured to come to what its data say."""

    def __init__(self, name):
        self.name = name

    def judge(self, data, basis):
        verdict = StageVerdict(data["verdict"])
        problems = [Problem(sentence=each) for each in data.get("problems", [])]
        problems += [Problem(sentence=each, counts=False) for each in data.get("remarks", [])]
        return Judgement(verdict=verdict, summary=f"{self.name} was measured.", problems=problems)


STAGES = {name: Recorded(name) for name in ORDER} | {"contract": ContractStage()}


def contract_data(without=(), *, kind="url", add_url=ADD_URL, **outcomes):
    """Every required rule passed, but for those that are said to come out otherwise."""
    found = {
        name: outcomes.get(name, Outcome.PASSED)
        for name in REQUIREMENTS.rules
        if name not in without
    }
    report = Report(
        kit="0",
        run="r",
        verdict=Verdict.CONFORMANT,
        stopped=None,
        seed=1,
        started="2026-09-01T10:00:00+00:00",
        seconds=1.0,
        endpoint=EndpointInfo(
            kind=kind,
            add_url=add_url,
            search_url=SEARCH_URL,
            health_url=None,
            auth="none",
            flags=["--url", "https://memory.example"],
        ),
        settings=Settings(
            concurrency=16,
            capabilities=["verbatim", "images"],
            track="textual",
            strict=False,
            quick=False,
            budget=None,
        ),
        rules=[
            RuleResult(
                rule=name,
                level=REQUIREMENTS.rules[name],
                clause="A1",
                outcome=outcome,
                transport="http",
                message="" if outcome is Outcome.PASSED else "so it came out",
            )
            for name, outcome in found.items()
        ],
    )
    data = ContractData(
        outcomes=found,
        add_concurrency=16,
        search_concurrency=32,
        restartable=True,
        report=report,
    )
    return data.model_dump(mode="json")


def measured(**data):
    """The results of all stages, as they are judged; other data for those that are named."""
    everything = {name: {"verdict": "PASS"} for name in ORDER}
    everything |= {"contract": contract_data()} | data
    basis = Basis(declared(), REQUIREMENTS)
    return [
        StageResult(
            stage=name,
            judgement=STAGES[name].judge(found, basis),
            data=found,
            began="2026-09-01T10:00:00+00:00",
            seconds=1.0,
        )
        for name, found in everything.items()
    ]


def certificate(*signers, results=None, declaration=None, **more):
    """A certificate of the usual declaration."""
    how = {"seed": 7, "run_id": "r", "issued": ISSUED, "stages": STAGES} | more
    basis = Basis(declaration or declared(), REQUIREMENTS)
    return issue(measured() if results is None else results, basis, signers, **how)


def new_key():
    """A new private key."""
    return CryptoSigner.generate_ed25519()


def trusted(signer, name="organiser", **how):
    """A private key's public half, trusted for a year."""
    return TrustedKey(
        **{
            "name": name,
            "organisation": "Example Organisation",
            "key_id": signer.public_key.keyid,
            "public": public_pem(signer.public_key._crypto_key()).decode(),
            "valid_until": ISSUED + timedelta(days=365),
            **how,
        }
    )


def store(*keys):
    """A trust store with these keys."""
    return TrustStore({key.key_id: key for key in keys})


def payload_of(data):
    """The statement in a certificate, as JSON."""
    return json.loads(base64.b64decode(json.loads(data)["payload"]))


def signed_again(data, signer, change):
    """What a holder of the key makes of a certificate: another statement, rightly signed."""
    document = payload_of(data)
    document = change(document) or document
    return sealed(json.dumps(document).encode(), [signer])
