"""Certificates are what the standards say: others' code verifies and reads them."""

import base64
import hashlib
import json
import subprocess

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from google.protobuf.json_format import ParseDict
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey

from aml_contract.certification.certificate import load_private_key, make_key
from tests.certification.certified import certificate, new_key, payload_of
from tests.certification.declared import declared


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A certificate, and the public key that its signer hands out."""
    name = tmp_path_factory.mktemp("keys") / "organiser"
    make_key(name)
    return certificate(load_private_key(name.with_suffix(".key"))), name.with_suffix(".pub")


def pae(kind, payload):
    """DSSE's pre-authentication encoding, written from its specification."""
    kind = kind.encode()
    return b"DSSEv1 " + b" ".join(
        [str(len(kind)).encode(), kind, str(len(payload)).encode(), payload]
    )


def test_plain_cryptography_verifies_it(made):
    data, public = made
    document = json.loads(data)
    key = load_pem_public_key(public.read_bytes())
    payload = base64.b64decode(document["payload"], validate=True)
    [signature] = document["signatures"]
    signed = base64.b64decode(signature["sig"], validate=True)
    key.verify(signed, pae(document["payloadType"], payload))
    with pytest.raises(InvalidSignature):
        key.verify(signed, pae(document["payloadType"], payload + b" "))


def test_openssl_verifies_it(made, tmp_path):
    data, public = made
    document = json.loads(data)
    payload = base64.b64decode(document["payload"])
    (tmp_path / "pae").write_bytes(pae(document["payloadType"], payload))
    (tmp_path / "sig").write_bytes(base64.b64decode(document["signatures"][0]["sig"]))
    words = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", public, "-rawin"]
    ran = subprocess.run(
        [*words, "-in", tmp_path / "pae", "-sigfile", tmp_path / "sig"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_securesystemslib_verifies_it(made):
    data, public = made
    key = SSlibKey.from_crypto(load_pem_public_key(public.read_bytes()))
    envelope = Envelope.from_dict(json.loads(data))
    assert envelope.payload_type == "application/vnd.in-toto+json"
    assert list(envelope.verify([key], threshold=1)) == [key.keyid]


def test_in_toto_reads_the_statement(made):
    message = ParseDict(payload_of(made[0]), statement_pb2.Statement())
    statement = Statement.copy_from_pb(message)
    statement.validate()
    assert statement.pb.subject[0].digest["sha256"] == declared().digest
    assert statement.pb.predicate_type == "urn:aml-contract:certificate:v1"


def test_the_subject_is_the_digest_that_anybody_can_compute():
    document = payload_of(certificate(new_key()))
    stated = {name: value for name, value in document["predicate"]["declaration"].items() if value}
    text = json.dumps(stated, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert document["subject"][0]["digest"]["sha256"] == hashlib.sha256(text.encode()).hexdigest()
