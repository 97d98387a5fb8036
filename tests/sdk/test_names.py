"""Names derived from ids, the owner of a directory, logs, and what an import costs."""

import json
import logging
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aml_sdk
from aml_sdk.content import is_blank, text_of
from aml_sdk.data_dir import DataDirectory
from aml_sdk.identity import backend_key, memory_id, short_digest
from tests.sdk.systems import Recorded

IDS = [
    "u",
    "U",
    "u ",
    " u",
    "u1",
    "a:b",
    "a_b",
    "a-b",
    "a.b",
    "../x",
    "*",
    "%",
    "e\u0301",
    "\u00e9",
    "\u00a0",
    "漢字",
    "😀",
    "x" * 999 + "a",
    "x" * 999 + "b",
    "",
    "none",
    "None",
    "nul\x00",
    "nul",
]


def test_backend_keys_are_safe_and_never_meet():
    keys = [backend_key(identifier) for identifier in IDS]
    assert len(set(keys)) == len(IDS)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]", key) for key in keys)


@given(st.text(), st.text(), st.integers(0, 30))
def test_memory_ids_keep_their_parts_apart(left, right, position):
    made = memory_id(left, right, position)
    assert made == memory_id(left, right, position)
    assert made != memory_id(left, right, position + 1)
    assert made != memory_id(left + "0", right, position)
    if left:
        assert made != memory_id(left[:-1], left[-1] + right, position)


def test_a_memory_id_never_changes():
    """Stored data depends on it."""
    assert memory_id("u", "r", 0) == "m-rqbnfgmvlpwwn6hc5a36ofrronpylfco"


def test_blank_is_white_space_without_an_image():
    image = {"type": "image_url", "image_url": {"url": "data:,"}}
    blank = {"role": "user", "content": [{"type": "text", "text": "\u3000"}]}
    assert is_blank(aml_sdk.Message.model_validate(blank))
    blank["content"].append(image)
    shown = aml_sdk.Message.model_validate(blank)
    assert not is_blank(shown)
    assert text_of(shown.content) == "\u3000"


def test_components_share_a_directory_and_each_has_one_owner(tmp_path):
    with (
        DataDirectory(tmp_path / "new", "hybrid"),
        DataDirectory(tmp_path / "new", "ledger"),
        pytest.raises(aml_sdk.DataDirectoryBusy, match=r"hybrid\.lock"),
    ):
        DataDirectory(tmp_path / "new", "hybrid")
    DataDirectory(tmp_path / "new", "hybrid").close()


def test_the_lock_goes_with_its_process(tmp_path):
    code = (
        "import sys, time, pathlib; from aml_sdk.data_dir import DataDirectory\n"
        "d = DataDirectory(pathlib.Path(sys.argv[1]), 'x'); print('owned', flush=True)\n"
        "time.sleep(60)"
    )
    owner = subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE)
    assert owner.stdout.readline() == b"owned\n"
    with pytest.raises(aml_sdk.DataDirectoryBusy):
        DataDirectory(tmp_path, "x")
    owner.kill()
    owner.wait()
    owner.stdout.close()
    DataDirectory(tmp_path, "x").close()


def test_logs_are_json_without_payload_ids_or_key(serve, written):
    system = Recorded()
    server = serve(system, auth="token", key="k-secret")
    headers = {"Authorization": "Token k-secret"}
    body = {"request_id": "r-secret", "user_id": "u-secret", "session_id": "s-secret"}
    body["messages"] = [{"role": "user", "content": "t-secret"}]
    query = {"query": "q-secret", "user_id": "u-secret", "top_k": 5}
    assert server.post("/add", body, headers=headers).status_code == 200
    assert server.post("/search", query, headers=headers).status_code == 200
    assert server.post("/search", query | {"top_k": "k"}, headers=headers).status_code == 422
    assert server.post("/add", body).status_code == 401
    system.failures = [RuntimeError("t-secret")]
    assert server.post("/add", body | {"request_id": "2"}, headers=headers).status_code == 500
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert "secret" not in written.getvalue()
    assert {"add", "search", "add failed"} <= {line["event"] for line in lines}
    first = lines[0]
    assert first["user"] == short_digest("u-secret")
    assert (first["status"], first["messages"]) == (200, 1)
    assert "ms" in first
    failed = next(line for line in lines if line["event"] == "add failed")
    assert failed["error"] == "RuntimeError"
    assert any("systems.py" in place for place in failed["at"])


def test_an_exception_is_logged_by_type_and_place_without_its_text(written):
    try:
        int("t-secret")
    except ValueError:
        logging.getLogger("uvicorn.error").exception("Exception in ASGI application")
    line = json.loads(written.getvalue())
    assert (line["event"], line["error"]) == ("Exception in ASGI application", "ValueError")
    assert "test_names.py" in line["at"][0]
    assert "secret" not in written.getvalue()


def test_importing_the_sdk_costs_nothing():
    heavy = {"pydantic", "fastapi", "httpx"}
    code = f"import sys, aml_sdk; print(sorted({heavy} & set(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert printed == b"[]\n"


def test_every_public_name_is_there():
    for name in aml_sdk.__all__:
        assert getattr(aml_sdk, name) is not None
    assert set(aml_sdk.__all__) <= set(dir(aml_sdk))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = aml_sdk.nonsense
