"""A certificate is believed for what it says and refused for what is wrong with it."""

import base64
import json
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner

from aml_contract.certification.certificate import Endpoint, Kit, Reason, RefusedError, verify
from aml_contract.certification.certificate.account import Verification, plain
from aml_contract.certification.certificate.envelope import MOST_BYTES, sealed
from aml_contract.certification.certificate.verification import SKEW
from aml_contract.certification.stage import ORDER, StageVerdict
from aml_contract.outcome import Level, Outcome
from aml_contract.rule import Capability, all_rules
from tests.certification.certified import (
    ADD_URL,
    DAY,
    ISSUED,
    LATER,
    REQUIREMENTS,
    SEARCH_URL,
    STAGES,
    certificate,
    contract_data,
    measured,
    new_key,
    payload_of,
    signed_again,
    store,
    trusted,
)
from tests.certification.declared import declared

KEY = new_key()
TRUSTED = store(trusted(KEY))
CERTIFICATE = certificate(KEY)


def verified(data, known=TRUSTED, now=LATER, **expected):
    return verify(data, known, now, stages=STAGES, **expected)


def refusal(data, known=TRUSTED, now=LATER, **expected):
    """Why it is refused: the kind, and the sentence."""
    with pytest.raises(RefusedError) as refused:
        verified(data, known, now, **expected)
    assert refused.value.fix
    return refused.value.reason, refused.value.sentence


# What is believed


def test_what_was_issued_is_believed():
    found = verified(CERTIFICATE)
    assert [key.name for key in found.signed_by] == ["organiser"]
    assert list(found.judgements) == list(ORDER)
    assert found.remarks == ()
    predicate = found.statement.predicate
    assert found.statement.subject[0].digest.sha256 == declared().digest
    assert predicate.declaration == declared()
    assert predicate.kit == Kit.installed()
    assert predicate.endpoint == Endpoint(add_url=ADD_URL, search_url=SEARCH_URL)
    assert predicate.requirement_set.digest == REQUIREMENTS.digest
    assert (predicate.seed, predicate.run_id) == (7, "r")


def test_it_is_told_for_people():
    rows = list(Verification.of(verified(CERTIFICATE), LATER).rows())
    text = "\n".join(f"{name}: {value}" for name, value in rows)
    assert "certified: hybrid@1.4.2, textual, open-source" in text
    assert "signed by: organiser (Example Organisation)" in text
    assert "valid: from 2026-09-01 12:00 UTC until 2026-11-30 12:00 UTC: 80 more days" in text
    assert "declared: 16 Adds in flight, each within 60 s" in text
    assert "declared: 32 Searches in flight, each within 30 s" in text
    assert "capacity: capacity was measured." in text
    assert f"endpoint: Add {ADD_URL}, Search {SEARCH_URL}" in text


def test_remarks_of_stages_are_told_and_refuse_nothing():
    results = measured(preflight={"verdict": "PASS", "remarks": ["a private address"]})
    found = Verification.of(verified(certificate(KEY, results=results)), LATER)
    assert ("", "remark: a private address") in list(found.rows())


def test_a_declined_capability_is_named_in_it():
    asking = [
        rule.name
        for rule in all_rules()
        if Capability.VERBATIM in rule.capabilities and rule.name in REQUIREMENTS.rules
    ]
    lowered = contract_data(**dict.fromkeys(asking, Outcome.NOT_APPLICABLE))
    lowered["report"]["settings"]["capabilities"] = []
    data = certificate(KEY, results=measured(contract=lowered))
    assert "verbatim" in verified(data).statement.predicate.capabilities_declined

    def denies(document):
        document["predicate"]["capabilities_declined"] = []

    reason, sentence = refusal(signed_again(data, KEY, denies))
    assert reason is Reason.VERDICT
    assert "declined" in sentence


# Who signed it


def test_one_trusted_signature_of_several_is_enough():
    data = certificate(new_key(), KEY, new_key())
    found = verified(data)
    assert [key.name for key in found.signed_by] == ["organiser"]
    assert len(found.remarks) == 2
    assert all("not in the trust store" in remark for remark in found.remarks)


def test_all_trusted_keys_that_signed_are_named():
    second = new_key()
    known = store(trusted(KEY), trusted(second, "second"))
    found = verified(certificate(KEY, second), known)
    assert {key.name for key in found.signed_by} == {"organiser", "second"}


def test_a_key_that_is_not_trusted_is_refused():
    reason, sentence = refusal(certificate(new_key()))
    assert reason is Reason.UNKNOWN_KEY
    assert "organiser" in sentence  # the keys that there are
    assert refusal(CERTIFICATE, store())[0] is Reason.UNKNOWN_KEY


def test_without_a_signature_nobody_signed_it():
    document = json.loads(CERTIFICATE)
    document["signatures"] = []
    assert refusal(json.dumps(document).encode()) == (Reason.UNKNOWN_KEY, "nobody signed it")


def test_an_expired_key_is_refused_although_the_certificate_is_older():
    known = store(trusted(KEY, valid_until=ISSUED + DAY))
    assert refusal(CERTIFICATE, known)[0] is Reason.KEY_EXPIRED
    verified(CERTIFICATE, known, ISSUED + DAY)


def test_a_key_that_is_not_yet_valid_is_refused():
    known = store(trusted(KEY, valid_from=LATER + DAY))
    assert refusal(CERTIFICATE, known)[0] is Reason.KEY_NOT_YET_VALID


def test_a_certificate_from_before_its_key_is_refused():
    known = store(trusted(KEY, valid_from=ISSUED + DAY))
    reason, sentence = refusal(CERTIFICATE, known)
    assert reason is Reason.KEY_NOT_YET_VALID
    assert "issued" in sentence


def test_an_expired_key_beside_a_valid_one_is_a_remark():
    old = new_key()
    known = store(trusted(KEY), trusted(old, "old", valid_until=ISSUED))
    found = verified(certificate(old, KEY), known)
    assert [key.name for key in found.signed_by] == ["organiser"]
    assert "old" in found.remarks[0]


def test_of_several_troubles_with_signatures_the_nearest_is_told():
    old = new_key()
    known = store(trusted(old, valid_until=ISSUED))
    assert refusal(certificate(new_key(), old), known)[0] is Reason.KEY_EXPIRED


def test_a_key_under_the_id_of_another_signs_nothing():
    other = new_key()
    document = json.loads(certificate(other))
    document["signatures"][0]["keyid"] = KEY.public_key.keyid
    assert refusal(json.dumps(document).encode())[0] is Reason.CHANGED


def test_a_signature_of_another_certificate_does_not_fit():
    other = json.loads(certificate(KEY, declaration=declared(version="2")))
    document = json.loads(CERTIFICATE) | {"signatures": other["signatures"]}
    assert refusal(json.dumps(document).encode())[0] is Reason.CHANGED


def test_the_same_key_twice_is_no_envelope():
    document = json.loads(CERTIFICATE)
    document["signatures"] *= 2
    assert refusal(json.dumps(document).encode())[0] is Reason.MALFORMED


@pytest.mark.parametrize("name", ["capacity", "contract"])
def test_a_changed_payload_does_not_fit(name):
    document = json.loads(CERTIFICATE)
    payload = base64.b64decode(document["payload"])
    changed = payload.replace(f'"stage":"{name}"'.encode(), f'"stage":"{name[::-1]}"'.encode())
    assert changed != payload
    document["payload"] = base64.b64encode(changed).decode()
    assert refusal(json.dumps(document).encode())[0] is Reason.CHANGED


# What it is


def test_a_signature_over_the_payload_as_another_type_does_not_fit():
    payload = base64.b64decode(json.loads(CERTIFICATE)["payload"])
    other = Envelope(payload, "application/vnd.example+json", {})
    other.sign(KEY)
    relabelled = other.to_dict() | {"payloadType": json.loads(CERTIFICATE)["payloadType"]}
    assert refusal(json.dumps(relabelled).encode())[0] is Reason.CHANGED


def test_a_signature_over_the_payload_alone_does_not_fit():
    document = json.loads(CERTIFICATE)
    raw = KEY.sign(base64.b64decode(document["payload"])).signature
    document["signatures"][0]["sig"] = base64.b64encode(bytes.fromhex(raw)).decode()
    assert refusal(json.dumps(document).encode())[0] is Reason.CHANGED


def test_another_payload_type_is_unknown_although_it_is_signed():
    other = Envelope(json.dumps(payload_of(CERTIFICATE)).encode(), "application/json", {})
    other.sign(KEY)
    reason, sentence = refusal(json.dumps(other.to_dict()).encode())
    assert reason is Reason.UNKNOWN_TYPE
    assert "'application/json'" in sentence


@pytest.mark.parametrize("field", ["_type", "predicateType"])
@pytest.mark.parametrize("value", ["https://slsa.dev/provenance/v1", None, 3, ["x"]])
def test_other_statements_are_unknown(field, value):
    data = signed_again(CERTIFICATE, KEY, lambda document: document | {field: value})
    assert refusal(data)[0] is Reason.UNKNOWN_TYPE


@pytest.mark.parametrize("payload", [b"", b"7", b"[]", b"null", b"\xff", b'"x"', b"{} {}"])
def test_a_payload_that_is_no_statement_is_malformed(payload):
    assert refusal(sealed(payload, [KEY]))[0] is Reason.MALFORMED


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a": {"b": 1, "\\u0062": 2}}',
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": "\\ud800"}',
        '{"a": ' + "9" * 5000 + "}",
        "[" * 200_000,
        '{"a":' * 200_000,
    ],
    ids=lambda text: text[:20],
)
def test_json_with_more_than_one_meaning_is_malformed_in_both_places(text):
    assert refusal(text.encode())[0] is Reason.MALFORMED
    assert refusal(sealed(text.encode(), [KEY]))[0] is Reason.MALFORMED


@pytest.mark.parametrize(
    "change",
    [
        {"payload": None},
        {"payload": 3},
        {"payload": "é"},
        {"payload": "a"},
        {"payload": "QQ==\n"},
        {"payloadType": None},
        {"payloadType": ["application/vnd.in-toto+json"]},
        {"signatures": None},
        {"signatures": {}},
        {"signatures": ["x"]},
        {"signatures": [{}]},
        {"signatures": [{"keyid": ["x"], "sig": "QQ=="}]},
        {"signatures": [{"keyid": "x", "sig": None}]},
        {"signatures": [{"keyid": "x", "sig": "!"}]},
    ],
    ids=str,
)
def test_an_envelope_of_another_form_is_malformed(change):
    document = json.loads(CERTIFICATE) | change
    reason, _ = refusal(json.dumps(document).encode())
    allowed = {Reason.MALFORMED}
    if change == {"signatures": {}}:
        allowed = {Reason.UNKNOWN_KEY}  # nobody signed it
    assert reason in allowed


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"[]", b"7", b"null", "\ufeff{}".encode()])
def test_what_is_no_envelope_is_malformed(data):
    assert refusal(data)[0] is Reason.MALFORMED


def test_utf_16_is_malformed():
    assert refusal(CERTIFICATE.decode().encode("utf-16"))[0] is Reason.MALFORMED


def test_what_is_absurdly_large_is_not_read():
    assert refusal(b" " * MOST_BYTES + CERTIFICATE)[0] is Reason.TOO_LARGE


def test_many_names_of_which_one_stands_twice_are_refused_in_no_quadratic_time():
    names = ",".join(f'"{n}":0' for n in range(300_000))
    assert refusal(f'{{{names},"299999":0}}'.encode())[0] is Reason.MALFORMED


@pytest.mark.parametrize("size", [0, 1, 63, 65, 10_000])
def test_a_signature_of_another_size_does_not_fit(size):
    document = json.loads(CERTIFICATE)
    document["signatures"][0]["sig"] = base64.b64encode(b"\0" * size).decode()
    assert refusal(json.dumps(document).encode())[0] is Reason.CHANGED


def test_a_field_that_nobody_knows_is_ignored():
    def add(document):
        document["predicate"]["mood"] = "good"

    data = signed_again(CERTIFICATE, KEY, add)
    assert verified(data).statement == verified(CERTIFICATE).statement


# When it is valid


def test_it_expires():
    assert refusal(CERTIFICATE, now=ISSUED + 90 * DAY)[0] is Reason.EXPIRED
    verified(CERTIFICATE, now=ISSUED + 90 * DAY - timedelta(seconds=1))


def test_one_from_the_future_is_refused_unless_a_clock_may_be_to_blame():
    verified(CERTIFICATE, now=ISSUED - SKEW)
    reason, sentence = refusal(CERTIFICATE, now=ISSUED - SKEW - timedelta(seconds=1))
    assert reason is Reason.NOT_YET_VALID
    assert ISSUED.isoformat() in sentence


def test_a_time_without_offset_is_none():
    def naive(document):
        document["predicate"]["expires"] = "2099-01-01T00:00:00"

    assert refusal(signed_again(CERTIFICATE, KEY, naive))[0] is Reason.MALFORMED


# What it is about


def test_it_certifies_the_declaration_that_is_meant():
    verified(CERTIFICATE, declaration=declared())
    reason, sentence = refusal(CERTIFICATE, declaration=declared(version="1.4.3"))
    assert reason is Reason.OTHER_DECLARATION
    assert "different: version" in sentence


def test_the_certificate_of_another_endpoint_is_refused():
    verified(CERTIFICATE, endpoint=Endpoint(add_url=ADD_URL, search_url=SEARCH_URL))
    other = Endpoint(add_url="https://other.example/add", search_url=SEARCH_URL)
    reason, sentence = refusal(CERTIFICATE, declaration=declared(), endpoint=other)
    assert reason is Reason.OTHER_ENDPOINT
    assert "https://other.example/add" in sentence
    assert refusal(CERTIFICATE, endpoint=Endpoint())[0] is Reason.OTHER_ENDPOINT


def test_another_declaration_under_the_same_subject_is_refused():
    def swap(document):
        document["predicate"]["declaration"]["version"] = "9"

    assert refusal(signed_again(CERTIFICATE, KEY, swap))[0] is Reason.SUBJECT


def test_another_endpoint_than_was_measured_is_refused():
    def swap(document):
        document["predicate"]["endpoint"]["add_url"] = "https://other.example/add"

    reason, sentence = refusal(signed_again(CERTIFICATE, KEY, swap))
    assert reason is Reason.VERDICT
    assert "endpoint" in sentence


def test_a_server_that_the_kit_started_is_certified_and_remarked_upon():
    results = measured(contract=contract_data(kind="cmd", add_url="http://127.0.0.1:1/add"))
    found = verified(certificate(KEY, results=results), endpoint=Endpoint())
    assert found.statement.predicate.endpoint == Endpoint()
    assert "the kit itself started" in found.remarks[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "aml-cycle-99"}, "aml-cycle-99"),
        ({"track": "smell"}, "smell"),
        ({"track": "coding"}, "pinned"),
        ({"digest": "0" * 64}, "pinned"),
    ],
)
def test_another_requirement_set_is_refused(change, words):
    def swap(document):
        document["predicate"]["requirement_set"] |= change

    reason, sentence = refusal(signed_again(CERTIFICATE, KEY, swap))
    assert reason is Reason.REQUIREMENTS
    assert words in sentence


def test_a_set_of_another_track_than_declared_is_refused():
    data = signed_again(CERTIFICATE, KEY, _judged_for_textual_declared_for_coding)
    reason, sentence = refusal(data)
    assert reason is Reason.REQUIREMENTS
    assert "textual" in sentence
    assert "coding" in sentence


def _judged_for_textual_declared_for_coding(document):
    other = declared(track="coding")
    document["predicate"]["declaration"] = other.model_dump(mode="json")
    document["subject"][0]["digest"]["sha256"] = other.digest


# Whether it passed


@pytest.mark.parametrize("name", ORDER)
def test_every_stage_is_wanted(name):
    def drop(document):
        stages = document["predicate"]["stages"]
        document["predicate"]["stages"] = [each for each in stages if each["stage"] != name]

    reason, sentence = refusal(signed_again(CERTIFICATE, KEY, drop))
    assert reason is Reason.STAGES
    assert sentence == f"it lacks the stage {name}"
    with pytest.raises(RefusedError, match=f"it lacks the stage {name}"):
        certificate(KEY, results=[each for each in measured() if each.stage != name])


def test_a_stage_that_is_there_twice_or_unknown_is_refused():
    def twice(document):
        document["predicate"]["stages"] += document["predicate"]["stages"][:1]

    def unknown(document):
        document["predicate"]["stages"].append(
            document["predicate"]["stages"][0] | {"stage": "horoscope"}
        )

    assert refusal(signed_again(CERTIFICATE, KEY, twice))[0] is Reason.STAGES
    assert "horoscope" in refusal(signed_again(CERTIFICATE, KEY, unknown))[1]


def test_a_kit_that_lacks_a_stage_believes_nothing():
    some = {name: stage for name, stage in STAGES.items() if name != "forecast"}
    with pytest.raises(RefusedError) as refused:
        verify(CERTIFICATE, TRUSTED, LATER, stages=some)
    assert refused.value.reason is Reason.STAGES


@pytest.mark.parametrize("name", [name for name in ORDER if name != "contract"])
@pytest.mark.parametrize("verdict", ["FAIL", "INCOMPLETE", "INCONCLUSIVE"])
def test_a_verdict_that_does_not_follow_is_refused(name, verdict):
    def lie(document):
        [stage] = [each for each in document["predicate"]["stages"] if each["stage"] == name]
        stage["data"] = {"verdict": verdict, "problems": ["a loss was measured"]}

    reason, sentence = refusal(signed_again(CERTIFICATE, KEY, lie))
    assert reason is Reason.VERDICT
    assert f"it says PASS of the stage {name}" in sentence
    assert f"amounts to {verdict}: a loss was measured" in sentence


def test_a_whole_that_does_not_follow_from_its_stages_is_refused():
    def lie(document):
        document["predicate"]["verdict"] = "FAIL"

    assert refusal(signed_again(CERTIFICATE, KEY, lie))[0] is Reason.VERDICT


@pytest.mark.parametrize("verdict", [v for v in StageVerdict if v is not StageVerdict.PASS])
def test_an_honest_failure_is_signed_by_nobody_and_believed_by_nobody(verdict):
    failed = {"verdict": verdict, "problems": ["a loss was measured"]}
    with pytest.raises(RefusedError) as refused:
        certificate(KEY, results=measured(capacity=failed))
    assert refused.value.reason is Reason.NOT_PASSED

    def honest(document):
        [stage] = [each for each in document["predicate"]["stages"] if each["stage"] == "capacity"]
        stage["data"] = failed
        stage["judgement"]["verdict"] = verdict
        document["predicate"]["verdict"] = verdict

    reason, sentence = refusal(signed_again(CERTIFICATE, KEY, honest))
    assert reason is Reason.NOT_PASSED
    assert sentence == f"the stage capacity came to {verdict}: a loss was measured"


MUST = next(name for name, level in REQUIREMENTS.rules.items() if level is Level.MUST)


def _with_contract(data):
    def change(document):
        [stage] = [each for each in document["predicate"]["stages"] if each["stage"] == "contract"]
        stage["data"] = data

    return signed_again(CERTIFICATE, KEY, change)


@pytest.mark.parametrize(
    "data",
    [contract_data(without=[MUST]), contract_data(**{MUST: Outcome.NOT_TESTED})],
    ids=["left out", "not tested"],
)
def test_an_untested_must_is_refused_by_its_name(data):
    reason, sentence = refusal(_with_contract(data))
    assert reason is Reason.VERDICT
    assert MUST in sentence
    assert "INCOMPLETE" in sentence


def test_a_failed_must_is_refused_by_its_name():
    reason, sentence = refusal(_with_contract(contract_data(**{MUST: Outcome.FAILED})))
    assert reason is Reason.VERDICT
    assert MUST in sentence


def test_outcomes_beside_another_report_are_refused():
    data = contract_data(**{MUST: Outcome.FAILED})
    data["outcomes"][MUST] = "passed"
    assert refusal(_with_contract(data))[0] is Reason.DATA


@pytest.mark.parametrize("data", [{}, {"verdict": "GREAT"}, {"verdict": []}])
def test_data_that_cannot_be_judged_are_refused(data):
    def change(document):
        document["predicate"]["stages"][0]["data"] = data

    reason, sentence = refusal(signed_again(CERTIFICATE, KEY, change))
    assert reason is Reason.DATA
    assert ORDER[0] in sentence


def test_an_endpoint_that_is_no_url_is_refused():
    data = contract_data(add_url="https://[::1/add")
    assert refusal(_with_contract(data))[0] is Reason.DATA


# Which kit made it


@pytest.mark.parametrize(
    ("kit", "words"),
    [
        ({"version": "99.0"}, "a newer version of the kit made it, 99.0"),
        ({"version": "0.0.1"}, "another version of the kit made it, 0.0.1"),
        ({"version": "no version at all"}, "another version of the kit made it"),
        ({"digest": "0" * 64}, "other code"),
    ],
)
def test_another_kit_is_a_remark(kit, words):
    def change(document):
        document["predicate"]["kit"] |= kit

    found = verified(signed_again(CERTIFICATE, KEY, change))
    assert words in found.remarks[0]


def test_words_that_this_kit_does_not_derive_are_a_remark_and_not_repeated():
    def praise(document):
        for stage in document["predicate"]["stages"]:
            stage["judgement"]["summary"] = "the best of all memories"

    found = verified(signed_again(CERTIFICATE, KEY, praise))
    assert len(found.remarks) == len(ORDER)
    rows = Verification.of(found, LATER).rows()
    assert not any("best of all" in value for _, value in rows)


def test_a_rehearsal_is_a_remark():
    rehearsed = {"verdict": "PASS", "allow_private": True}
    found = verified(certificate(KEY, results=measured(declaration=rehearsed)))
    assert "rehearsal" in found.remarks[0]


# Making it


def test_nobody_signs_nothing():
    with pytest.raises(ValueError, match="nobody"):
        certificate()


def test_a_number_that_json_does_not_have_is_never_signed():
    results = measured(capacity={"verdict": "PASS", "p99": float("nan")})
    data = certificate(KEY, results=results)
    verified(data)  # written as null: what is judged is what is read
    assert payload_of(data)["predicate"]["stages"][3]["data"]["p99"] is None


def test_keys_of_other_kinds_are_no_trusted_keys():
    other = CryptoSigner(generate_private_key(SECP256R1()))
    with pytest.raises(ValueError, match="Ed25519"):
        trusted(other)


def test_what_is_printed_is_one_line_of_printable_characters():
    assert plain("a\x1b[2J\nb\u202ec\ud800") == "a\\u{1b}[2J b\\u{202e}c\\u{d800}"
    results = measured(preflight={"verdict": "PASS", "remarks": ["\x1b]0;owned\x07"]})
    rows = Verification.of(verified(certificate(KEY, results=results)), LATER).rows()
    assert not any("\x1b" in plain(value) for _, value in rows)
