"""An endpoint that answers, but not as meant: the finding says what to look at first."""

from tests.messages.test_unreachable import ONE

LEGAL = ("--only", "structure/legal-requests", "--seed", "7")


def test_a_wrong_path(said, snapshot, serve):
    url = serve().url
    found = said(
        "check", "--add-url", f"{url}/nowhere", "--search-url", f"{url}/nowhere", *LEGAL
    )  # fmt: skip
    assert found.finding == snapshot


def test_no_key_where_one_is_wanted(said, snapshot, serve):
    found = said("check", "--url", serve(SUBJECT_KEY="sesame").url, *LEGAL)
    assert found.finding == snapshot


def test_a_wrong_key(said, snapshot, serve):
    keyed = ("--auth", "bearer", "--key-env", "MY_KEY")
    found = said("check", "--url", serve(SUBJECT_KEY="sesame").url, *keyed, *LEGAL, MY_KEY="other")
    assert found.finding == snapshot


def test_the_right_key_under_a_wrong_scheme(said, snapshot, serve):
    keyed = ("--auth", "token", "--key-env", "MY_KEY")
    found = said("check", "--url", serve(SUBJECT_KEY="sesame").url, *keyed, *LEGAL, MY_KEY="sesame")
    assert found.finding == snapshot


def test_a_page_instead_of_json(said, snapshot, serve):
    found = said("check", "--url", serve("page").url, "--only", "structure/add-json")
    assert found.finding == snapshot


def test_a_slow_server(said, snapshot, serve):
    found = said("check", "--url", serve("slow").url, "--timeout", "0.1", *LEGAL)
    assert found.finding == snapshot


def test_a_memory_of_ones_own_that_breaks(said, snapshot, serve):
    found = said("check", "--url", serve("raise").url, *LEGAL)
    assert found.finding == snapshot


def test_smoke_says_the_same_of_a_wrong_key(said, snapshot, serve):
    keyed = ("--auth", "bearer", "--key-env", "MY_KEY")
    found = said("smoke", "--url", serve(SUBJECT_KEY="sesame").url, *keyed, MY_KEY="other")
    assert str(found) == snapshot


def test_smoke_says_the_same_of_a_server_that_is_not_there(said, snapshot, closed_port):
    assert str(said("smoke", "--url", f"http://127.0.0.1:{closed_port}")) == snapshot


def test_reproduce_takes_the_endpoint_from_the_report_and_says_so(said, serve):
    url = serve("lose").url
    made = said("check", "--url", url, "--only", "visibility/immediate", "--json", "r.json")
    assert made.code == 1
    found = said("reproduce", "r.json", "--timeout", "77", AML_URL="http://127.0.0.1:1")
    assert found.code == 1
    assert f"url      {url}  (r.json)" in found.out
    assert "timeout  77  (--timeout)" in found.out
    assert "the finding is still there" in found.out


def test_a_command_that_leads_to_a_file_is_not_taken_from_it(said, serve, tmp_path):
    (tmp_path / "aml.toml").write_text('[endpoint]\ncmd = "no-such-program {port}"\n')
    found = said("check", "--url", serve().url, *ONE)
    assert found.code == 0
    assert "no-such-program" not in found.out
