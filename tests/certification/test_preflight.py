"""The preflight on real servers: each trouble brings its sentence, a healthy endpoint none."""

import asyncio
import contextlib
import ipaddress
import json
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import certifi
import pytest

from aml_contract.certification.preflight import PreflightStage, origins
from aml_contract.certification.preflight.addresses import Kind, kind_of
from aml_contract.certification.stage import StageVerdict
from aml_contract.endpoint.http import Unreachable
from aml_contract.endpoint.tls import tls_context
from tests.certification.declared import context, declared
from tests.certification.reached import KEY, Authority, Memory
from tests.kit.conftest import command
from tests.servers import in_thread

BEARER = ("authorization", f"Bearer {KEY}")
KEYED = {"auth": "bearer", "key_env": "CANARY"}
HOST = "memory.test"
LOOPBACK = "127.0.0.1 is a loopback address."


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch):
    monkeypatch.setenv("CANARY", KEY)
    for name in ("http_proxy", "https_proxy", "all_proxy", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    tls_context.cache_clear()
    yield
    tls_context.cache_clear()


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path)


@pytest.fixture
def public(monkeypatch, authority):
    """Everybody trusts the authority, and every address counts as public."""
    monkeypatch.setattr(certifi, "where", lambda: str(authority.file))
    monkeypatch.setattr(origins, "kind_of", lambda _: Kind.PUBLIC)
    tls_context.cache_clear()
    return authority


@pytest.fixture
def named(monkeypatch):
    """Gives the name ``memory.test`` addresses, as a name server would."""
    real = socket.getaddrinfo

    def give(*addresses):
        def answer(host, port, *rest, **options):
            if (host.decode() if isinstance(host, bytes) else host) != HOST:
                return real(host, port, *rest, **options)
            return [made for each in addresses for made in real(each, port, *rest, **options)]

        monkeypatch.setattr(socket, "getaddrinfo", answer)

    return give


def judged(url=None, *, allow_private=True, declaration=None, **settings):
    """The data as they are kept, and the judgement; each said by the verifier too."""
    stage = PreflightStage()
    given = ({"url": url} if url else {}) | settings
    made = context(declaration or declared(), allow_private=allow_private, **given)
    made.patience = 0.01
    data = json.loads(json.dumps(asyncio.run(stage.measure(made))))
    judgement = stage.judge(data, made.basis)
    assert judgement == stage.judge(json.loads(json.dumps(data)), made.basis)
    for problem in judgement.problems:
        assert problem.sentence.endswith(".")
        assert "\n" not in problem.sentence
    assert KEY not in json.dumps(data) + judgement.model_dump_json()
    return data, judgement


def said(judgement):
    """What is said beside that a loopback address is none to register."""
    return [each.sentence for each in judgement.problems if "a loopback addr" not in each.sentence]


def only(judgement, verdict, words, clause=""):
    """One problem alone, with these words."""
    (problem,) = [each for each in judgement.problems if "a loopback ad" not in each.sentence]
    assert words in problem.sentence
    assert problem.clause == clause
    assert problem.fix
    assert judgement.verdict is verdict
    assert problem.counts == (verdict is not StageVerdict.PASS)


@contextlib.contextmanager
def secure(options, memory=None, host="127.0.0.1"):
    """A memory over TLS, under the name ``memory.test`` where the test gives it addresses."""
    with in_thread(memory or Memory(), host=host, **options) as url:
        yield url.replace("127.0.0.1", HOST)


# Healthy


def test_a_healthy_endpoint_brings_no_word(public, named):
    named("127.0.0.1")
    memory = Memory(key=BEARER)
    with secure(public.options(HOST, intermediate=True), memory) as url:
        data, judgement = judged(url, allow_private=False, **KEYED)
    assert judgement.verdict is StageVerdict.PASS
    assert not judgement.problems
    assert "its certificate lasts 61 days; key as bearer (token: 401, x-api-key: 401)" in (
        judgement.summary
    )
    (origin,) = data["origins"]
    assert origin["serves"] == ["add", "search", "health"]
    (door,) = origin["doors"]
    assert door["tls"]["trusted"] == "public"
    assert door["tls"]["protocol"] in ("TLSv1.3", "TLSv1.2")
    assert door["tls"]["sent"] == 2
    assert door["tls"]["certificate"]["names"] == [HOST]
    assert memory.seen[0] == ("GET", "/health")
    assert memory.seen[1] == ("POST", "/search"), "the first Search is a first one"


def test_one_that_the_kit_starts_is_a_rehearsal():
    _, judgement = judged(cmd=command())
    assert judgement.verdict is StageVerdict.PASS
    assert not said(judgement)
    assert [each.sentence for each in judgement.problems] == [LOOPBACK]
    _, judgement = judged(cmd=command(), allow_private=False)
    assert judgement.verdict is StageVerdict.FAIL
    assert judgement.summary == LOOPBACK


# Addresses (E5)


def test_nothing_is_sent_to_a_private_address(named):
    memory = Memory()
    with in_thread(memory) as url:
        data, judgement = judged(url, allow_private=False)
        assert judgement.verdict is StageVerdict.FAIL
        assert judgement.problems[0].sentence == LOOPBACK
        assert judgement.problems[0].clause == "E5"
        named("93.184.216.34", "10.0.0.7")
        data, judgement = judged(url.replace("127.0.0.1", HOST), allow_private=False)
    assert judgement.summary == f"{HOST} resolves to 10.0.0.7, a private address."
    assert not data["calls"]
    assert not memory.seen


def test_addresses_that_a_proxy_invents_are_not_the_endpoints_fault(named):
    named("198.18.0.7")
    _, judgement = judged(f"https://{HOST}", allow_private=False)
    only(judgement, StageVerdict.INCONCLUSIVE, "that a proxy on this machine has invented", "E5")


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("93.184.216.34", Kind.PUBLIC),
        ("2606:2800:220:1::1", Kind.PUBLIC),
        ("64:ff9b::5db8:d822", Kind.PUBLIC),
        ("64:ff9b::a00:7", Kind.PRIVATE),
        ("127.8.9.1", Kind.LOOPBACK),
        ("::1", Kind.LOOPBACK),
        ("::ffff:127.0.0.1", Kind.LOOPBACK),
        ("169.254.169.254", Kind.LINK_LOCAL),
        ("fe80::1%eth0", Kind.LINK_LOCAL),
        ("10.0.0.7", Kind.PRIVATE),
        ("172.31.0.1", Kind.PRIVATE),
        ("192.168.1.1", Kind.PRIVATE),
        ("fd00::1", Kind.PRIVATE),
        ("::ffff:192.168.1.1", Kind.PRIVATE),
        ("100.64.0.1", Kind.SHARED),
        ("198.19.255.1", Kind.INVENTED),
        ("0.0.0.0", Kind.RESERVED),
        ("::", Kind.RESERVED),
        ("224.0.0.1", Kind.RESERVED),
        ("255.255.255.255", Kind.RESERVED),
    ],
)
def test_what_an_address_is_for(address, kind):
    assert kind_of(address) is kind


def test_a_url_with_a_user_is_refused_before_anything(named):
    named("93.184.216.34")
    with pytest.raises(ValueError, match="must not hold user:password@"):
        judged(f"https://me:word@{HOST}")


def test_a_second_address_that_takes_nothing_is_told(named):
    named("127.0.0.1", "127.0.0.2")
    with in_thread(Memory()) as url:
        data, judgement = judged(url.replace("127.0.0.1", HOST))
    only(judgement, StageVerdict.PASS, f"{HOST} resolves to 127.0.0.2 too, which could not be")
    assert [door["error"] for door in data["origins"][0]["doors"]] == [None, "connection refused"]


def test_an_address_without_a_route_is_not_the_endpoints_fault():
    door = origins.Door(address="2606:2800::1", kind=Kind.PUBLIC, error="x", no_route=True)
    lost = origins.Origin(scheme="https", host=HOST, port=443, serves=["add"], doors=[door])
    (ground,) = origins.grounds(lost, datetime.now(UTC), allow_private=False)
    assert ground.verdict is StageVerdict.INCONCLUSIVE
    open_one = origins.Door(address="93.184.216.34", kind=Kind.PUBLIC, seconds=0.1)
    lost.doors.append(open_one)
    (ground,) = origins.grounds(lost, datetime.now(UTC), allow_private=False)
    assert not ground.problem.counts
    assert "this machine has no route there" in ground.problem.sentence


def test_plain_http_to_the_world_is_a_remark(public, named):
    del public
    named("127.0.0.1")
    with in_thread(Memory(key=BEARER)) as url:
        _, judgement = judged(url.replace("127.0.0.1", HOST), allow_private=False, **KEYED)
    only(judgement, StageVerdict.PASS, "is registered with plain http: keys and memories", "E5")


def test_nothing_that_answers_is_unreachable(named):
    with pytest.raises(Unreachable, match="connection refused"):
        judged("http://127.0.0.1:1")
    with pytest.raises(Unreachable, match="host name not found"):
        judged("http://no-such-host.invalid")
    named()
    with pytest.raises(Unreachable, match="no address"):
        judged(f"http://{HOST}")


def test_one_host_of_two_that_does_not_answer_is_named():
    with in_thread(Memory()) as url:
        urls = {"add_url": f"{url}/add", "search_url": "http://127.0.0.1:1/search"}
        data, judgement = judged(**urls)
    assert not data["calls"]
    words = "Search cannot be reached at 127.0.0.1:1: connection refused."
    only(judgement, StageVerdict.FAIL, words)


# Certificates


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lasts": -2}, "The certificate of memory.test expired on 20"),
        ({"lasts": 120}, "The certificate of memory.test is not valid before 20"),
        ({"names": ["other.test", "*.other.test"]}, "at memory.test is for other.test, *.other.t"),
        ({"intermediate": True, "whole": False}, "memory.test sends its certificate without that"),
    ],
)
def test_a_certificate_that_the_platform_refuses_is_one_sentence(public, named, options, words):
    named("127.0.0.1")
    memory = Memory()
    names, options = (
        options.get("names", [HOST]),
        {k: v for k, v in options.items() if k != "names"},
    )
    with secure(public.options(*names, **options), memory) as url:
        data, judgement = judged(url, allow_private=False)
    only(judgement, StageVerdict.FAIL, words)
    assert not data["calls"]
    assert not memory.seen


def test_a_certificate_signed_by_itself(public, named):
    named("127.0.0.1")
    with secure(public.signed_by_itself(HOST)) as url:
        _, judgement = judged(url, allow_private=False)
    only(judgement, StageVerdict.FAIL, f"The certificate of {HOST} is signed by itself.")


def test_an_authority_between_that_has_expired(public, named):
    named("127.0.0.1")
    with secure(public.signed_by_one_that_expired(HOST)) as url:
        _, judgement = judged(url, allow_private=False)
    words = f"A certificate that {HOST} sends beside its own has expired."
    only(judgement, StageVerdict.FAIL, words)


def test_what_is_wrong_with_a_certificate_in_two_ways_is_two_sentences(tmp_path, public, named):
    named("127.0.0.1")
    (tmp_path / "other").mkdir()
    with secure(Authority(tmp_path / "other").options(HOST, lasts=-2)) as url:
        _, judgement = judged(url, allow_private=False)
    first, second = said(judgement)
    assert "sends its certificate without that of" in first
    assert "expired on 20" in second


def test_an_authority_that_nobody_knows(tmp_path, public, named):
    named("127.0.0.1")
    (tmp_path / "other").mkdir()
    other = Authority(tmp_path / "other")
    with secure(other.options(HOST, intermediate=True)) as url:
        _, judgement = judged(url, allow_private=False)
    only(judgement, StageVerdict.FAIL, "which nobody trusts by default.")


@pytest.mark.parametrize("allow_private", [True, False])
def test_an_authority_of_ones_own_is_for_rehearsals(monkeypatch, authority, named, allow_private):
    named("127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    monkeypatch.setattr(origins, "kind_of", lambda _: Kind.PUBLIC)
    with secure(authority.options(HOST), Memory(key=BEARER)) as url:
        data, judgement = judged(url, allow_private=allow_private, **KEYED)
    verdict = StageVerdict.PASS if allow_private else StageVerdict.FAIL
    only(judgement, verdict, f"of {HOST} is trusted because of SSL_CERT_FILE alone.")
    assert data["calls"]


@pytest.mark.parametrize(
    ("options", "verdict", "words"),
    [
        ({"lasts": 5}, StageVerdict.FAIL, ", in 5 days; a Full run may take 10."),
        ({"lasts": 20}, StageVerdict.PASS, ", in 20 days; the endpoint stays up 30."),
        ({"lasts": 5, "made_for": 6}, StageVerdict.PASS, ", in 5 days; the endpoint stays up"),
    ],
)
def test_a_certificate_that_ends_too_soon(public, named, options, verdict, words):
    named("127.0.0.1")
    with secure(public.options(HOST, **options), Memory(key=BEARER)) as url:
        _, judgement = judged(url, allow_private=False, **KEYED)
    only(judgement, verdict, words, "L1")


def test_an_address_with_a_certificate_of_its_own_is_looked_at_too(public, named):
    named("127.0.0.1", "127.0.0.2")
    with secure(public.options(HOST)) as url:
        port = int(url.rpartition(":")[2])
        other = public.options("other.test")
        with in_thread(Memory(), host="127.0.0.2", port=port, **other):
            _, judgement = judged(url, allow_private=False)
    only(judgement, StageVerdict.FAIL, f"The certificate at {HOST} is for other.test, not for")


def test_no_tls_where_it_is_registered(public, named):
    named("127.0.0.1")
    with in_thread(Memory()) as url:
        plain = url.replace("http://127.0.0.1", f"https://{HOST}")
        _, judgement = judged(plain, allow_private=False)
    only(judgement, StageVerdict.FAIL, f"{HOST} agrees on no TLS connection: ")


# Paths, redirections, health (E1 to E4, E6)


def test_a_redirection_is_told_with_where_it_points():
    with in_thread(Memory(answers={"POST /add": "/add/?token=t-0451"})) as url:
        _, judgement = judged(url)
    only(
        judgement, StageVerdict.FAIL, f"{url}/add redirects to /add/, which the platform does", "E6"
    )


@pytest.mark.parametrize(
    ("answers", "words", "clause"),
    [
        ({"POST /search": 404}, "A Search is answered 404 at http", "E1"),
        ({"POST /add": 422}, "An Add is answered 422, not 200.", "A11"),
        ({"POST /search": 503}, "A Search is answered 503, not 200.", "S5"),
        ({"GET /health": 401}, "/health is answered 401, not 2xx.", "E3"),
        ({"GET /health": "/up"}, "/health is answered 308, not 2xx.", "E3"),
        ({"POST /search": 401}, "A Search is answered 401, and no key is registered.", "K1"),
    ],
)
def test_what_is_not_answered_as_it_must(answers, words, clause):
    with in_thread(Memory(answers=answers)) as url:
        _, judgement = judged(url)
    only(judgement, StageVerdict.FAIL, words, clause)


@pytest.mark.parametrize(
    ("path", "body", "clause"),
    [("/add", {"status": "ok"}, "A11"), ("/search", [], "S5"), ("/search", {"data": None}, "S5")],
)
def test_an_answer_of_another_form_is_told(path, body, clause):
    with in_thread(Memory(bodies={path: body})) as url:
        _, judgement = judged(url)
    only(judgement, StageVerdict.FAIL, "is answered 200, but not as the contract says.", clause)


def test_head_that_is_not_answered_is_a_remark():
    with in_thread(Memory(answers={"HEAD /add": 405})) as url:
        _, judgement = judged(url)
    only(judgement, StageVerdict.PASS, "HEAD on the Add URL is answered 405.", "E4")


def test_under_a_prefix_health_may_be_asked_elsewhere():
    answers = {"GET /health": 404}
    with in_thread(Memory(answers=answers)) as url:
        _, judgement = judged(f"{url}/tenant/v1")
    only(judgement, StageVerdict.PASS, "/health on the origin of the Add URL is answered 404", "E3")
    with in_thread(Memory()) as url:
        assert not said(judged(f"{url}/tenant/v1")[1])


def test_one_url_for_both_is_a_remark():
    body = {"success": True, "data": []}
    with in_thread(Memory(bodies={"/both": body})) as url:
        _, judgement = judged(add_url=f"{url}/both", search_url=f"{url}/both")
    only(judgement, StageVerdict.PASS, "Add and Search are registered under one URL.", "E2")


# Keys (K1 to K3)


@pytest.mark.parametrize("query", ["?tenant=7&api_key=abc", "?t=hf_" + "aB3" * 12])
def test_a_key_in_a_url_is_told_and_not_repeated(query):
    with in_thread(Memory()) as url:
        urls = {"add_url": f"{url}/add", "search_url": f"{url}/search{query}"}
        _, judgement = judged(**urls)
    only(judgement, StageVerdict.FAIL, "The Search URL carries a key ", "K3")
    assert query.rpartition("=")[2] not in judgement.model_dump_json()


def test_the_endpoints_own_key_in_a_url_is_refused_before_anything():
    with pytest.raises(ValueError, match="a URL holds the key"):
        judged(f"https://{HOST}/{KEY}", **KEYED)


def test_a_key_that_is_not_asked_for_is_one_sentence_for_each_way():
    with in_thread(Memory()) as url:
        _, judgement = judged(url, **KEYED)
    assert judgement.verdict is StageVerdict.FAIL
    assert said(judgement) == [
        "An Add without a key is answered 200: whoever finds the URL can do it.",
        "A Search without a key is answered 200: whoever finds the URL can do it.",
        "An Add with a wrong key is answered 200: whoever finds the URL can do it.",
        "A Search with a wrong key is answered 200: whoever finds the URL can do it.",
    ]
    assert {each.clause for each in judgement.problems} >= {"K2"}


def test_a_key_that_travels_another_way_is_told_how():
    with in_thread(Memory(key=("x-api-key", KEY))) as url:
        _, judgement = judged(url, **KEYED)
    assert judgement.verdict is StageVerdict.FAIL
    words = "with the registered key as bearer; as x-api-key it is accepted."
    assert all(words in sentence for sentence in said(judgement))
    fixes = [each.fix for each in judgement.problems if each.clause == "K1"]
    assert fixes[0] == 'write auth = "x-api-key" into [endpoint], and register that'


def test_a_key_that_is_refused_every_way():
    with in_thread(Memory(key=("authorization", "Bearer another"))) as url:
        _, judgement = judged(url, **KEYED)
    assert judgement.verdict is StageVerdict.FAIL
    assert "A Search is answered 401 with the registered key as bearer." in said(judgement)


def test_other_refusals_and_crashes_of_the_wrong_key_are_remarks():
    with in_thread(Memory(key=BEARER, refuse=500)) as url:
        _, judgement = judged(url, **KEYED)
    assert judgement.verdict is StageVerdict.PASS
    assert "A Search with a wrong key is answered 500; 401 or 403 says what is wrong." in said(
        judgement
    )
    assert "A Search with the key as token is answered 500." in said(judgement)


# Times


def test_a_cold_start_is_a_remark(monkeypatch):
    monkeypatch.setattr("aml_contract.certification.preflight.pace._LONG", 0.3)
    with in_thread(Memory(cold=1.5)) as url:
        data, judgement = judged(url)
    only(judgement, StageVerdict.PASS, "The first Search took 1.")
    assert "it starts cold" in said(judgement)[0]
    assert data["calls"][1]["seconds"] >= 1.5


def test_a_first_call_that_succeeds_on_a_later_try_is_a_remark():
    with in_thread(Memory(answers={"POST /search": [503, 503, 200]})) as url:
        _, judgement = judged(url)
    only(judgement, StageVerdict.PASS, "A Search is answered 200 at the third try only.")


@pytest.mark.parametrize(("seconds", "side"), [(-300, "behind"), (300, "before")])
def test_a_clock_that_is_wrong_is_a_remark(seconds, side):
    class Dated(Memory):
        def _answer(self, *request):
            status, body, more = super()._answer(*request)
            date = datetime.now(UTC) + timedelta(seconds=seconds)
            return status, body, [*more, (b"date", format_datetime(date, usegmt=True).encode())]

    with in_thread(Dated(), date_header=False) as url:
        _, judgement = judged(url)
    only(judgement, StageVerdict.PASS, f" s {side} that of this machine.")
    (sentence,) = said(judgement)
    assert 240 < int(sentence.split()[4]) < 360


@pytest.mark.parametrize("date", [None, "tomorrow", "Mon, 99 Foo 2026 00:00:00 GMT"])
def test_no_date_says_nothing(date):
    headers = [(b"date", date.encode())] if date else []
    with in_thread(Memory(headers=headers), date_header=False) as url:
        data, judgement = judged(url)
    assert not said(judgement)
    assert {call["skew"] for call in data["calls"]} == {None}


def test_an_answer_that_takes_longer_than_declared_is_no_answer():
    slow = declared(add_timeout=0.5, search_timeout=0.5)
    with in_thread(Memory(cold=30), patient=False) as url:
        _, judgement = judged(url, declaration=slow)
    only(judgement, StageVerdict.FAIL, "A Search ends with no answer within 0.5 s, not 200.", "S5")


def test_a_wait_shorter_than_what_is_declared_leaves_it_open(monkeypatch):
    monkeypatch.setattr("aml_contract.certification.preflight.stage._WAIT", 0.5)
    with in_thread(Memory(cold=30), patient=False) as url:
        _, judgement = judged(url)
    words = "A Search ends with no answer within 0.5 s."
    only(judgement, StageVerdict.INCONCLUSIVE, words, "F2")


def test_proxies_that_are_passed_by_are_named(monkeypatch):
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    with in_thread(Memory()) as url:
        _, judgement = judged(url)
    only(judgement, StageVerdict.PASS, "set here and were passed by: https_proxy.")


def test_each_line_of_progress_names_a_request_and_no_key():
    lines = []
    with in_thread(Memory(key=BEARER)) as url:
        made = context(declared(), allow_private=True, url=url, **KEYED)
        made.say = lines.append
        asyncio.run(PreflightStage().measure(made))
    assert f"POST {url}/search, key wrong → 401, " in "\n".join(lines)
    assert KEY not in "\n".join(lines)
    assert ipaddress.ip_address(lines[0].split(" → ")[1]).is_loopback
