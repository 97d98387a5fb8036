"""Keys in files, and the trust store: what is kept secret, what is believed, what is refused."""

import json
import os
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from aml_contract.certification.certificate import (
    KeyFileError,
    TrustedKey,
    TrustStore,
    TrustStoreError,
    add_trusted,
    load_private_key,
    load_public_key,
    make_key,
)
from aml_contract.certification.certificate.keys import LEAST_PASSPHRASE, MOST_BYTES
from tests.certification.certified import new_key, trusted

UNTIL = datetime(2027, 1, 1, tzinfo=UTC)
PASSPHRASE = "correct horse battery staple"
AML = [sys.executable, "-m", "aml_cli.main"]


def aml(*arguments, cwd, **environment):
    return subprocess.run(
        [*AML, *arguments],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100", **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture
def name(tmp_path):
    """A key pair, by its path without the endings."""
    made = tmp_path / "organiser"
    make_key(made)
    return made


def added(directory, public, **how):
    told = {"name": "organiser", "organisation": "Example", "valid_from": None} | how
    return add_trusted(directory, public, **{"valid_until": UNTIL, **told})


# Key pairs


def test_a_pair_belongs_together_and_its_private_half_to_nobody_else(tmp_path):
    previous = os.umask(0)  # as careless as can be
    try:
        made = make_key(tmp_path / "organiser")
    finally:
        os.umask(previous)
    private = tmp_path / "organiser.key"
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert load_private_key(private).public_key == made
    assert load_public_key(tmp_path / "organiser.pub") == made
    assert b"PRIVATE" not in (tmp_path / "organiser.pub").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["organiser.key", "organiser.pub"]


@pytest.mark.parametrize("ending", [".key", ".pub"])
@pytest.mark.parametrize("there", ["file", "dangling link", "directory"])
def test_nothing_is_overwritten(tmp_path, ending, there):
    path = tmp_path / f"organiser{ending}"
    if there == "file":
        path.write_text("precious")
    elif there == "directory":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(KeyFileError, match="never overwritten"):
        make_key(tmp_path / "organiser")
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    if there == "file":
        assert path.read_text() == "precious"


def test_a_private_key_without_its_public_half_is_not_left_behind(tmp_path, monkeypatch):
    real = os.open

    def failing(path, flags, *mode):
        if str(path).endswith(".pub"):
            raise OSError(28, "No space left on device")
        return real(path, flags, *mode)

    monkeypatch.setattr(os, "open", failing)
    with pytest.raises(OSError, match="No space"):
        make_key(tmp_path / "organiser")
    assert list(tmp_path.iterdir()) == []


def test_where_no_permissions_are_kept_no_key_is_made(tmp_path, monkeypatch):
    real = os.open
    monkeypatch.setattr(os, "open", lambda path, flags, mode=0: real(path, flags, 0o644))
    with pytest.raises(KeyFileError, match="keeps no permissions"):
        make_key(tmp_path / "organiser")
    assert list(tmp_path.iterdir()) == []


def test_an_encrypted_key_wants_its_passphrase(tmp_path):
    made = make_key(tmp_path / "organiser", PASSPHRASE)
    private = tmp_path / "organiser.key"
    assert b"ENCRYPTED" in private.read_bytes()
    assert load_private_key(private, lambda: PASSPHRASE).public_key == made
    with pytest.raises(KeyFileError, match="no passphrase"):
        load_private_key(private)
    with pytest.raises(KeyFileError, match="right passphrase"):
        load_private_key(private, lambda: "another passphrase altogether")


def test_a_short_passphrase_makes_no_key(tmp_path):
    with pytest.raises(KeyFileError, match=str(LEAST_PASSPHRASE)):
        make_key(tmp_path / "organiser", "x" * (LEAST_PASSPHRASE - 1))
    assert list(tmp_path.iterdir()) == []


def test_an_unencrypted_key_asks_for_no_passphrase(name):
    def never():
        raise AssertionError

    load_private_key(name.with_suffix(".key"), never)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_private_key_that_others_may_read_is_refused(name, mode):
    private = name.with_suffix(".key")
    private.chmod(mode)
    with pytest.raises(KeyFileError, match="chmod 600"):
        load_private_key(private)


def test_one_half_is_not_taken_for_the_other(name):
    with pytest.raises(KeyFileError, match="holds no private key"):
        load_private_key(name.with_suffix(".pub"))
    with pytest.raises(KeyFileError, match="PRIVATE"):
        load_public_key(name.with_suffix(".key"))


def test_no_message_repeats_what_a_private_key_holds(name):
    private = name.with_suffix(".key")
    lines = private.read_text().splitlines()
    private.write_text("\n".join([lines[0], lines[1][:-9], lines[2]]))
    with pytest.raises(KeyFileError) as refused:
        load_private_key(private)
    assert lines[1][:12] not in str(refused.value)
    assert refused.value.__cause__ is None


def test_keys_of_other_kinds_are_refused(tmp_path):
    other = generate_private_key(SECP256R1())
    private, public = tmp_path / "other.key", tmp_path / "other.pub"
    private.write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    private.chmod(0o600)
    public.write_bytes(
        other.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    with pytest.raises(KeyFileError, match="no Ed25519 key"):
        load_private_key(private)
    with pytest.raises(KeyFileError, match="no Ed25519 key"):
        load_public_key(public)


def test_what_is_no_file_of_a_key_is_not_read(tmp_path):
    pipe, large = tmp_path / "pipe", tmp_path / "large"
    os.mkfifo(pipe)
    large.write_bytes(b"x" * (MOST_BYTES + 1))
    for path, words in [
        (pipe, "no ordinary file"),
        (tmp_path, "no ordinary file"),
        (Path("/dev/zero"), "no ordinary file"),
        (large, "KiB"),
        (tmp_path / "nowhere", "cannot be read"),
    ]:
        with pytest.raises(KeyFileError, match=words):
            load_public_key(path)


# The trust store


def test_a_trusted_key_is_found_again(name, tmp_path):
    public = load_public_key(name.with_suffix(".pub"))
    start = UNTIL - timedelta(days=10)
    key = added(tmp_path / "store", public, valid_from=start)
    store = TrustStore.read(tmp_path / "store")
    assert store.keys == {public.keyid: key}
    assert store.keys[public.keyid].verifier == public
    assert (key.valid_from, key.valid_until) == (start, UNTIL)


def test_a_key_or_a_name_that_is_there_is_not_replaced(name, tmp_path):
    public = load_public_key(name.with_suffix(".pub"))
    added(tmp_path / "store", public)
    with pytest.raises(TrustStoreError, match="delete"):
        added(tmp_path / "store", public, name="again")
    with pytest.raises(TrustStoreError, match="another name"):
        added(tmp_path / "store", new_key().public_key)
    assert len(TrustStore.read(tmp_path / "store").keys) == 1


@pytest.mark.parametrize("bad", ["", "../x", "a/b", "A", ".hidden", "x" * 65, "a b", "é", "a\n"])
def test_a_name_stays_in_the_store(name, tmp_path, bad):
    with pytest.raises(TrustStoreError, match="cannot name a key"):
        added(tmp_path / "store", load_public_key(name.with_suffix(".pub")), name=bad)
    assert not (tmp_path / "store").exists()


def test_a_validity_ends_after_it_begins(name, tmp_path):
    with pytest.raises(TrustStoreError, match="before"):
        added(tmp_path / "store", load_public_key(name.with_suffix(".pub")), valid_from=UNTIL)


@pytest.mark.parametrize("called", ["organiser.key", "notes.txt", "organiser.json", ".hidden"])
@pytest.mark.parametrize("encrypted", [False, True])
def test_a_private_key_in_the_store_is_refused_loudly(tmp_path, called, encrypted):
    make_key(tmp_path / "mine", PASSPHRASE if encrypted else "")
    store = tmp_path / "store"
    added(store, new_key().public_key, name="other")
    (tmp_path / "mine.key").rename(store / called)
    with pytest.raises(TrustStoreError, match="PRIVATE key"):
        TrustStore.read(store)


def test_links_in_the_store_are_refused(name, tmp_path):
    store = tmp_path / "store"
    added(store, load_public_key(name.with_suffix(".pub")))
    (store / "organiser.json").rename(tmp_path / "organiser.json")
    (store / "organiser.json").symlink_to(tmp_path / "organiser.json")
    with pytest.raises(TrustStoreError, match="is a link"):
        TrustStore.read(store)
    (store / "organiser.json").unlink()
    (store / "notes").symlink_to("/dev/zero")
    with pytest.raises(TrustStoreError, match="is a link"):
        TrustStore.read(store)


def test_what_is_no_key_is_ignored_and_told(name, tmp_path):
    store = tmp_path / "store"
    added(store, load_public_key(name.with_suffix(".pub")))
    (store / "README.md").write_text("Whose keys these are.")
    (store / "organiser.pub").write_bytes(name.with_suffix(".pub").read_bytes())
    (store / "older").mkdir()
    os.mkfifo(store / "pipe")
    found = TrustStore.read(store)
    assert len(found.keys) == 1
    assert found.others == ("README.md", "older", "organiser.pub", "pipe")


def key_file(**changes):
    document = trusted(new_key()).model_dump(mode="json") | changes
    return {name: value for name, value in document.items() if value is not None}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"key_id": "0" * 64}, "key_id is not the id"),
        ({"public": trusted(new_key()).public}, "key_id is not the id"),
        ({"public": "-----BEGIN PUBLIC KEY-----"}, "no PEM"),
        ({"valid_until": "2027-01-01"}, "valid_until"),
        ({"valid_until": "2027-01-01T00:00:00"}, "valid_until"),
        ({"valid_until": None}, "valid_until"),
        ({"name": "another"}, "it is called another.json"),
        ({"name": "../x"}, "name"),
        ({"form": "aml-trusted-key/2"}, "form"),
        ({"comment": "x"}, "comment"),
    ],
    ids=lambda given: given if isinstance(given, str) else "-".join(given),
)
def test_a_broken_key_file_is_refused(tmp_path, change, words):
    path = tmp_path / "organiser.json"
    path.write_text(json.dumps(key_file(**change)))
    with pytest.raises(TrustStoreError, match=words):
        TrustStore.read(tmp_path)


@pytest.mark.parametrize("garbage", [b"", b"[]", b"\xff", b"{" * 10_000, b" " * (MOST_BYTES + 1)])
def test_garbage_in_place_of_a_key_is_refused(tmp_path, garbage):
    (tmp_path / "organiser.json").write_bytes(garbage)
    with pytest.raises(TrustStoreError, match=r"organiser\.json"):
        TrustStore.read(tmp_path)


def test_a_pipe_in_place_of_a_key_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "organiser.json")
    with pytest.raises(TrustStoreError, match="no ordinary file"):
        TrustStore.read(tmp_path)


def test_the_same_key_twice_is_refused(tmp_path):
    signer = new_key()
    for name in ("one", "two"):
        key = trusted(signer, name)
        (tmp_path / f"{name}.json").write_text(key.model_dump_json())
    with pytest.raises(TrustStoreError, match="the same key"):
        TrustStore.read(tmp_path)


def test_a_store_that_is_not_there_is_no_empty_one(tmp_path):
    with pytest.raises(TrustStoreError, match="cannot be read"):
        TrustStore.read(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(TrustStoreError, match="cannot be read"):
        TrustStore.read(tmp_path / "file")


def test_a_trusted_key_is_what_its_file_says(tmp_path):
    key = trusted(new_key())
    assert TrustedKey.model_validate_json(key.model_dump_json()) == key


# The command


def test_the_command_makes_trusts_and_lists_keys(tmp_path):
    made = aml("keys", "new", "organiser", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "PRIVATE" not in made.stdout
    public = load_public_key(tmp_path / "organiser.pub")
    assert f"key id: {public.keyid}" in made.stdout
    words = ["keys", "trust", "organiser.pub", "--trust-store", "trusted"]
    ran = aml(*words, "--organisation", "Example Org", "--until", "2099-01-01", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert f"key id: {public.keyid}" in ran.stdout
    found = aml("keys", "list", "--trust-store", "trusted", cwd=tmp_path)
    assert found.returncode == 0
    assert "organiser (Example Org): believed until 2099-01-01 00:00 UTC" in found.stdout
    again = aml("keys", "new", "organiser", cwd=tmp_path)
    assert again.returncode == 2
    assert "never overwritten" in again.stderr


def test_the_list_tells_which_keys_are_believed_now(tmp_path):
    now = datetime.now(UTC)
    day = timedelta(days=1)
    for name, start, end in [
        ("old", None, now - day),
        ("next", now + day, now + 2 * day),
        ("good", now - day, now + day),
    ]:
        key = new_key().public_key
        added(tmp_path, key, name=name, valid_from=start, valid_until=end)
    (tmp_path / "README.md").touch()
    text = aml("keys", "list", "--trust-store", ".", cwd=tmp_path).stdout
    assert "old (Example): expired" in text
    assert "next (Example): not believed before" in text
    assert "good (Example): believed until" in text
    assert "README.md is no trusted key, and ignored" in text


def test_a_passphrase_comes_from_the_environment_and_is_never_printed(tmp_path):
    words = ["keys", "new", "organiser", "--encrypt"]
    ran = aml(*words, cwd=tmp_path, AML_KEY_PASSPHRASE=PASSPHRASE)
    assert ran.returncode == 0, ran.stderr
    assert PASSPHRASE not in ran.stdout + ran.stderr
    load_private_key(tmp_path / "organiser.key", lambda: PASSPHRASE)


@pytest.mark.parametrize(("given", "words"), [({}, "AML_KEY_PASSPHRASE"), ({"": ""}, "empty")])
def test_where_nobody_can_be_asked_for_a_passphrase_no_key_is_made(tmp_path, given, words):
    environment = {"AML_KEY_PASSPHRASE": ""} if given else {}
    ran = aml("keys", "new", "organiser", "--encrypt", cwd=tmp_path, **environment)
    assert ran.returncode == 2
    assert words in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_private_key_is_not_trusted_and_the_mistake_is_loud(tmp_path):
    make_key(tmp_path / "organiser")
    words = ["keys", "trust", "organiser.key", "--trust-store", "trusted"]
    ran = aml(*words, "--organisation", "Example", cwd=tmp_path)
    assert ran.returncode == 2
    assert "PRIVATE" in ran.stderr
    assert not (tmp_path / "trusted").exists()


def test_a_directory_that_cannot_be_written_is_told(tmp_path):
    ran = aml("keys", "new", "nowhere/organiser", cwd=tmp_path)
    assert ran.returncode == 3
    assert "nowhere/organiser.key was not written" in ran.stderr
