"""What is committed is what the definition generates, and the definition is tidy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from codegen.__main__ import DOCUMENT, PACKAGE, REPOSITORY, differences, outputs
from codegen.descriptors import ANNOTATIONS_PROTO, MEMORY_PROTO, PROTO_ROOT, compile_contract
from codegen.reader import ContractError, read_contract

BUF = Path(sys.executable).with_name("buf")


@pytest.fixture(scope="module")
def generated() -> dict[Path, str]:
    return outputs()


def buf(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BUF, *arguments, PROTO_ROOT], capture_output=True, text=True, check=False
    )


def test_nothing_differs(generated: dict[Path, str]):
    assert differences(generated) == []


def test_the_command_agrees():
    done = subprocess.run(
        [sys.executable, "-m", "codegen", "--check"],
        cwd=PROTO_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_differences_are_told(generated: dict[Path, str], tmp_path: Path):
    for path, text in generated.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    assert differences(generated, tmp_path) == []
    models = tmp_path / PACKAGE / "models.py"
    models.write_text(models.read_text("utf-8").replace("strict=True", "strict=False"), "utf-8")
    (tmp_path / DOCUMENT).unlink()
    (tmp_path / PACKAGE / "helpers.py").write_text("", "utf-8")
    document, changed, stranger = differences(generated, tmp_path)
    assert "-    model_config = ConfigDict(strict=False" in changed
    assert "+    model_config = ConfigDict(strict=True" in changed
    assert document.startswith(f"--- {DOCUMENT} (committed)")
    assert stranger == f"{PACKAGE / 'helpers.py'} is not generated\n"


def test_buf_finds_nothing():
    assert (buf("lint").returncode, buf("lint").stdout) == (0, "")
    formatted = buf("format", "--diff", "--exit-code")
    assert (formatted.returncode, formatted.stdout) == (0, "")


def test_generated_python_is_formatted():
    modules = ["__init__", "models", "convert", "client", "router"]
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--check", "--isolated", "--line-length=100"]
        + [str(REPOSITORY / PACKAGE / f"{name}.py") for name in modules],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("module", ["models", "router", "client"])
def test_json_needs_no_protobuf(module: str):
    code = f"""
import sys
import aml_sdk._gen.{module}
print(sorted({{name.partition(".")[0] for name in sys.modules}} & {{"google", "grpc"}}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_models_need_pydantic_only():
    code = """
import sys
import aml_sdk._gen.models
print(sorted(set(sys.modules) & {"httpx", "fastapi", "starlette", "numpy", "rich", "typer"}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            "// Who speaks. No closed set is published: any name is taken (clause A5).",
            "// Who.",
            "Message.role",
        ),
        ('json_name = "top_k"', 'json_name = "topK"', "top_k: json_name"),
        ("optional double score", "optional float score", "score: a type"),
        ('method: "GET"', 'method: "PUT"', "Health: GET or POST"),
        ("message HealthRequest {}", "message HealthRequest {}\nservice Other {}", "one service"),
    ],
)
def test_what_the_generators_do_not_understand_is_refused(
    old: str, new: str, complaint: str, tmp_path: Path
):
    for name in (MEMORY_PROTO, ANNOTATIONS_PROTO):
        (tmp_path / name).parent.mkdir(parents=True)
        text = (PROTO_ROOT / name).read_text("utf-8")
        assert name == ANNOTATIONS_PROTO or old in text
        (tmp_path / name).write_text(text.replace(old, new), "utf-8")
    with pytest.raises(ContractError, match=complaint):
        read_contract(compile_contract(tmp_path))
