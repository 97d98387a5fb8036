"""Whatever single byte is changed, put in or taken out: refused, or nothing is said otherwise."""

import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from aml_contract.certification.certificate import RefusedError, verify
from tests.certification.certified import LATER, STAGES, certificate, new_key, store, trusted

KEY = new_key()
TRUSTED = store(trusted(KEY))
CERTIFICATE = certificate(KEY)
GENUINE = verify(CERTIFICATE, TRUSTED, LATER, stages=STAGES)

_END = len(CERTIFICATE) - 1
places = st.one_of(st.integers(0, 40), st.integers(_END - 400, _END), st.integers(0, _END))
"""The envelope's own words are at both ends, the payload between them."""


def check(data):
    try:
        found = verify(data, TRUSTED, LATER, stages=STAGES)
    except RefusedError:
        return
    assert found == GENUINE


@given(places, st.integers(1, 255))
@settings(max_examples=400, deadline=None)
def test_a_changed_byte(place, by):
    changed = bytearray(CERTIFICATE)
    changed[place] ^= by
    check(bytes(changed))


@given(places, st.integers(0, 255))
@settings(max_examples=300, deadline=None)
def test_a_byte_more(place, byte):
    check(CERTIFICATE[:place] + bytes([byte]) + CERTIFICATE[place:])


@given(places)
@settings(max_examples=300, deadline=None)
def test_a_byte_less(place):
    check(CERTIFICATE[:place] + CERTIFICATE[place + 1 :])


@given(st.integers(0, _END))
@settings(max_examples=200, deadline=None)
def test_a_file_that_was_cut_off(place):
    check(CERTIFICATE[:place])


@given(st.binary(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_bytes(data):
    check(data)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)


@given(st.sampled_from(["payload", "payloadType", "signatures", "keyid", "sig"]), json_values)
@example("payload", "e30=")
@settings(max_examples=300, deadline=None)
def test_any_value_in_a_field(field, value):
    document = json.loads(CERTIFICATE)
    inner = document["signatures"][0] if field in ("keyid", "sig") else document
    inner[field] = value
    check(json.dumps(document).encode())
