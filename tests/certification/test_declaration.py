"""What a builder declares: read from a file, complete for its division, consistent, no secret."""

import asyncio
import json

import pytest

from aml_contract.certification.declaration import Declaration, DeclarationStage, declaration_from
from aml_contract.certification.declaration.checklist import CHECKLIST
from aml_contract.certification.declaration.credentials import credential_in
from aml_contract.certification.declaration.file import fields
from aml_contract.certification.stage import StageVerdict
from aml_contract.config import ConfigError, resolve
from aml_contract.report.coverage import catalogue
from tests.certification.declared import COMMERCIAL, OPEN_SOURCE, context, declared

KEYED = {"url": "https://memory.example", "auth": "bearer", "key_env": "DECLARED_KEY"}
GITHUB = "ghp_" + "a1" * 18
FILE = """
[endpoint]
url = "https://memory.example"

[declaration]
system = "hybrid"
track = "textual"
add_models = ["none"]
add_timeout = 60

[declaration.review]
100 = "deploys are locked"
"""


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("DECLARED_KEY", "k-canary-0451")


def judged(declaration, *, allow_private=False, **settings):
    """The judgement, derived twice from what was kept, as whoever verifies it does."""
    stage = DeclarationStage()
    made = context(declaration, allow_private=allow_private, **(KEYED | settings))
    data = json.loads(json.dumps(asyncio.run(stage.measure(made))))
    judgement = stage.judge(data, made.basis)
    assert judgement == stage.judge(data, made.basis)
    return judgement


def sentences(judgement):
    return [problem.sentence for problem in judgement.problems]


@pytest.mark.parametrize("declaration", [declared(), Declaration(**COMMERCIAL)])
def test_what_is_complete_and_consistent_passes_without_a_word(declaration):
    judgement = judged(declaration)
    assert judgement.verdict is StageVerdict.PASS
    assert not judgement.problems
    assert judgement.summary.startswith("hybrid 1.4.2 is declared for textual, ")


def test_a_commercial_entry_may_say_that_it_has_no_repository():
    stated = Declaration(**COMMERCIAL, repository="none", commit="none")
    assert judged(stated).verdict is StageVerdict.PASS
    assert judged(declared(repository="none")).verdict is StageVerdict.FAIL


def test_nothing_declared_is_one_problem():
    judgement = judged(Declaration())
    assert judgement.verdict is StageVerdict.INCOMPLETE
    assert sentences(judgement) == ["Nothing is declared."]
    assert "aml init --declaration" in judgement.problems[0].fix


@pytest.mark.parametrize("name", sorted(Declaration.model_fields.keys() - {"review"}))
def test_what_lacks_is_said_by_its_name(name):
    whole = COMMERCIAL if name == "product_version" else OPEN_SOURCE
    judgement = judged(Declaration(**{k: v for k, v in whole.items() if k != name}))
    assert judgement.verdict is StageVerdict.INCOMPLETE
    assert sentences(judgement) == [f"The declaration has no {name}."]
    assert judgement.problems[0].fix.startswith(f"write {name} into [declaration]: ")


@pytest.mark.parametrize("said", ["TODO", "tbd", "...", "…", "???", "<your name>", "xxx", " - "])
def test_a_placeholder_says_nothing(said):
    assert sentences(judged(declared(contact=said))) == ["The declaration has no contact."]
    assert sentences(judged(declared(add_models=[said]))) == ["The declaration has no add_models."]
    assert sentences(judged(declared(commit=said))) == ["The declaration has no commit."]


def test_what_is_none_is_said_so():
    stated = declared(add_models=["none"], embedding_model="none", rate_limits="none")
    assert judged(stated).verdict is StageVerdict.PASS


def test_models_are_never_judged():
    stated = declared(
        add_models=["made-up-latest"], embedding_model="main", search_models=["?", "x"]
    )
    assert judged(stated).verdict is StageVerdict.PASS


@pytest.mark.parametrize(
    ("changes", "words", "clause"),
    [
        ({"version": "latest"}, "version is 'latest', which moves on, as branches do.", "T3"),
        ({"version": "Main"}, "version is 'Main', which moves on", "T3"),
        ({"version": "registry.example/memory:stable"}, "which moves on", "T3"),
        ({"version": "^1.4"}, "version is '^1.4', which is a range of versions.", "T3"),
        ({"version": "1.4.x"}, "is a range of versions", "T3"),
        ({"version": "1.*"}, "is a range of versions", "T3"),
        ({"product_version": "production"}, "product_version is 'production', which moves", "T3"),
        ({"commit": "main"}, "commit is 'main', which is no commit.", "T3"),
        ({"commit": "0123abc"}, "commit is '0123abc', which is only 7 of 40 hexadecimal", "T3"),
        ({"commit": "g" * 40}, "which is no commit", "T3"),
        ({"repository": "git@code.example:team/x.git"}, "which is no URL of the web.", "T3"),
        ({"repository": "https://[::1"}, "which is no URL of the web.", "T3"),
        ({"repository": "http://localhost/x"}, "repository is at localhost, which is not", "T3"),
        ({"repository": "http://10.0.0.7/x"}, "repository is at 10.0.0.7, which is not", "T3"),
        ({"repository": "https://me@code.example/x"}, "repository holds a user before", "K3"),
        ({"add_concurrency": 12}, "add_concurrency is 12, fewer than 16.", "L1"),
        ({"add_concurrency": 65}, "add_concurrency is 65, more than 64.", "L1"),
        ({"search_concurrency": 257}, "search_concurrency is 257, more than 256.", "L1"),
        ({"add_timeout": 1801.0}, "add_timeout is 1801 s, which is not between 0 and 1800.", "F2"),
        ({"search_timeout": 0.0}, "search_timeout is 0 s, which is not between", "F2"),
        ({"retention_days": 31}, "retention_days is 31, which is not between 0 and 30.", "L3"),
        ({"retention_days": -1}, "retention_days is -1, which", "L3"),
        ({"track": "coding"}, "track is 'coding' in [declaration], but the setting is", "T1"),
    ],
)
def test_what_may_not_be_fails_in_one_sentence(changes, words, clause):
    judgement = judged(declared(**changes))
    assert judgement.verdict is StageVerdict.FAIL
    (problem,) = judgement.problems
    assert words in problem.sentence
    assert judgement.summary == problem.sentence
    assert problem.sentence.endswith(".")
    assert problem.fix
    assert problem.clause == clause


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "v1.4.2-rc.1+build.7"},
        {"version": "2026-09-21"},
        {"version": "1.0~rc1"},
        {"version": "mainline-7"},
        {"version": "0123456789abcdef0123456789abcdef01234567"},
        {"commit": "0123456789ABCDEF0123456789abcdef01234567"},
        {"add_concurrency": 64, "search_concurrency": 256},
        {"add_concurrency": 16, "search_concurrency": 16},
        {"add_timeout": 90.0},
        {"retention_days": 30},
        {"retention_days": 0},
        {"changes": "sk-learn-contrib-metric-learning replaced; bearer authentication-schemes too"},
        {"attribution": "https://code.example/a@b, sha256:" + "ab" * 32},
    ],
)
def test_what_may_be_is_left_alone(changes):
    judgement = judged(declared(**changes))
    assert judgement.verdict is StageVerdict.PASS
    assert not judgement.problems


def test_a_time_that_proxies_do_not_wait_for_is_a_remark():
    judgement = judged(declared(add_timeout=91.0))
    assert judgement.verdict is StageVerdict.PASS
    (problem,) = judgement.problems
    assert "proxies cut requests off" in problem.sentence
    assert not problem.counts


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"timeout": "59"}, "add_timeout is 60 s, but the setting timeout is 59: the kit would"),
        (
            {"add_concurrency": "17"},
            "add_concurrency is 16 in [declaration], but the setting is 17.",
        ),
        ({"search_concurrency": "8"}, "search_concurrency is 32 in [declaration], but the setting"),
        ({"track": "multimodal"}, "track is 'textual' in [declaration], but the setting"),
    ],
)
def test_settings_that_say_otherwise_are_named(settings, words):
    judgement = judged(declared(), **settings)
    assert judgement.verdict is StageVerdict.FAIL
    assert words in sentences(judgement)[0]


def test_settings_that_say_the_same_or_leave_room_are_no_problem():
    settings = {"timeout": "60", "add_concurrency": "16", "search_concurrency": "32"}
    assert judged(declared(), **settings).verdict is StageVerdict.PASS


def test_without_a_key_it_is_for_smoke_alone():
    judgement = judged(declared(), auth=None, key_env=None)
    assert judgement.verdict is StageVerdict.FAIL
    assert "without a key" in judgement.summary
    assert judgement.problems[0].clause == "K1"


def test_in_a_rehearsal_less_is_allowed_and_said():
    small = declared(add_concurrency=4, search_concurrency=4)
    judgement = judged(small, allow_private=True, auth=None, key_env=None)
    assert judgement.verdict is StageVerdict.PASS
    assert len(judgement.problems) == 3
    assert not any(problem.counts for problem in judgement.problems)
    assert judged(declared(retention_days=31), allow_private=True).verdict is StageVerdict.FAIL


def test_the_worst_is_said_first_and_the_others_counted():
    judgement = judged(declared(contact=None, rate_limits=None, version="latest"))
    assert judgement.verdict is StageVerdict.FAIL
    first = "version is 'latest', which moves on, as branches do"
    assert judgement.summary == f"{first}, and 2 more problems."
    assert len(sentences(judgement)) == 3


def test_a_row_without_an_answer_is_missing():
    review = dict.fromkeys((row.number for row in CHECKLIST), "yes") | {"102": "TODO"}
    judgement = judged(declared(review=review))
    assert judgement.verdict is StageVerdict.INCOMPLETE
    assert judgement.summary.startswith("Row 102 of the checklist has no answer: What of queries")
    assert judgement.problems[0].fix == 'write 102 = "…" into [declaration.review]'


def test_a_row_that_a_fault_answers_is_not_asked():
    review = dict.fromkeys(("100", "101", "102", "103"), "yes")
    assert judged(declared(review=review)).summary.startswith("Row 67 ")
    hooks = {"fault_cmd": "true", "heal_cmd": "true"}
    assert judged(declared(review=review), **hooks).verdict is StageVerdict.PASS


def test_the_checklist_is_the_rows_that_are_for_human_review():
    modes = catalogue()["mode"]
    reviewed = {n for n, mode in modes.items() if mode.get("reason", "").startswith("human review")}
    assert {row.number for row in CHECKLIST if not row.seen_with_a_fault} == reviewed
    assert {row.number for row in CHECKLIST} <= modes.keys()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"ask with {GITHUB}", "a GitHub token"),
        ("github_pat_" + "A1b2_" * 10, "a GitHub token"),
        ("sk-ant-api03-" + "Ab1-" * 10, "an Anthropic key"),
        ("sk-" + "aB3" * 10, "a provider's key"),
        ("sk-proj-" + "aB-3" * 10, "a provider's key"),
        ("glpat-" + "x1" * 10, "a GitLab token"),
        ("hf_" + "aB" * 17, "a Hugging Face token"),
        ("AIza" + "a" * 35, "a Google key"),
        ("AKIAABCDEFGHIJKLMNOP", "an AWS key"),
        ("LTAI" + "5tAb" * 4, "an Alibaba Cloud key"),
        ("-----BEGIN RSA PRIVATE KEY-----", "a private key"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.c2lnbmF0dXJl", "a JSON web token"),
        ("Authorization: Bearer abcdefgh12345678", "a key in a header"),
        ("https://ci:hunter2@code.example/x", "a password in a URL"),
    ],
)
def test_credentials_are_known_by_their_forms_and_never_repeated(tmp_path, text, kind):
    assert credential_in(text) == kind
    for changes in ({"contact": text}, {"commit": text}, {"review": {"102": text}}):
        judgement = judged(declared(**changes))
        assert judgement.verdict is StageVerdict.FAIL
        assert f"holds what looks like {kind}" in judgement.summary
        assert text not in judgement.model_dump_json()
    (tmp_path / "e.toml").write_text(f"[declaration]\nsystem = 'x'\ncontact = '{text}'\n")
    with pytest.raises(ConfigError, match=rf"e\.toml:3: contact in .* looks like {kind}") as caught:
        declaration_from(tmp_path / "e.toml")
    assert text not in str(caught.value)


def test_the_endpoints_own_key_is_found_whatever_its_form():
    stage = DeclarationStage()
    made = context(declared(changes="try k-canary-0451 at once"), **KEYED)
    data = asyncio.run(stage.measure(made))
    judgement = stage.judge(data, made.basis)
    assert sentences(judgement) == ["changes holds the endpoint's own key."]
    assert "0451" not in json.dumps(data) + judgement.model_dump_json()


def test_a_file_with_both_is_read_by_each_for_its_own(tmp_path):
    file = tmp_path / "endpoint.toml"
    file.write_text(FILE)
    found = declaration_from(file)
    assert found == Declaration(
        system="hybrid",
        track="textual",
        add_models=["none"],
        add_timeout=60,
        review={"100": "deploys are locked"},
    )
    assert set(resolve({}, config=file, environ={}).origins) == {"url"}


def test_a_file_without_a_declaration_declares_nothing(tmp_path):
    (tmp_path / "aml.toml").write_text('[endpoint]\nurl = "http://x"\n')
    assert declaration_from(tmp_path / "aml.toml") == Declaration()


def test_a_pyproject_declares_under_its_own_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "pyproject.toml"
    file.write_text('[tool.aml.declaration]\nsystem = "mine"\n')
    assert declaration_from(file).system == "mine"
    file.write_text('[tool.aml.declaration]\nsytem = "mine"\n')
    with pytest.raises(
        ConfigError, match=r"^pyproject\.toml:2: there is no setting sytem in \[tool"
    ):
        declaration_from(file)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("system", "sytem", "e.toml:6: there is no setting sytem in [declaration]; did you mean s"),
        ("system", "url", "e.toml:6: url belongs in [endpoint], not in [declaration]"),
        ('"textual"', '"audio"', "e.toml:7: track in [declaration] is one of textual, coding, mul"),
        ('["none"]', '"none"', "e.toml:8: add_models in [declaration] is a list of texts, not 'n"),
        ("60", '"60"', "e.toml:9: add_timeout in [declaration] is a number, not '60'"),
        ("system", "api_key", "e.toml:6: api_key is refused, a key does not belong in a file"),
        ("100 =", "104 =", "e.toml:11: there is no row 104 in [declaration.review]; there are 67"),
        ('"deploys are locked"', "true", "e.toml:11: review in [declaration] is a table of texts"),
        ('"hybrid"', '""', "e.toml:6: system in [declaration] is empty: give it a value, or take"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_message_with_file_line_and_remedy(tmp_path, monkeypatch, old, new, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.toml").write_text(FILE.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        declaration_from(tmp_path / "e.toml")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["[declaratoin]\nsystem = 'x'\n", "declaration = 1\n"])
def test_a_mistyped_section_is_told_its_name(tmp_path, text):
    (tmp_path / "aml.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"did you mean \[declaration\]\?"):
        resolve({}, directory=tmp_path, environ={})


def test_every_field_of_the_model_stands_in_files_and_is_described():
    assert [field.name for field in fields()] == list(Declaration.model_fields)
    assert all(field.help.endswith(".") for field in fields())


def test_the_digest_is_that_of_what_is_stated():
    whole = declared()
    assert len(whole.digest) == 64
    assert Declaration.model_validate_json(whole.model_dump_json()).digest == whole.digest
    shuffled = Declaration(**dict(reversed(whole.model_dump().items())))
    assert shuffled.digest == whole.digest
    assert len({declared(**{name: None}).digest for name in Declaration.model_fields}) > 18
    assert declared(contact="钥").digest != declared(contact="匙").digest
    # Of a fixed text, so that no later kit gives old declarations new digests.
    fixed = Declaration(system="x", add_timeout=60, add_models=["a"], review={"100": "é"})
    assert fixed.digest == "8aa34d842d84f19b2a06ff948ca92dccc7ec1482d70fd1febf0ce55f4783c82e"
