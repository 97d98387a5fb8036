"""GitHub's steps and Docker's, run as a plain shell runs them."""

import re
import shlex
import subprocess
from dataclasses import dataclass, field

import yaml

_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
"""How GitHub starts ``shell: bash``."""


def scripts(steps):
    """The shell of every step that has some, by its name."""
    return {step["name"]: step["run"] for step in steps if "run" in step}


def action_steps(path):
    return yaml.safe_load(path.read_text())["runs"]["steps"]


def workflow_steps(path):
    (job,) = yaml.safe_load(path.read_text())["jobs"].values()
    return job["steps"]


@dataclass
class Runner:
    """What runs steps at GitHub: files for outputs and the summary, values of expressions."""

    home: object
    environment: dict
    values: dict = field(default_factory=dict)

    def __post_init__(self):
        self.summary = self.home / "step-summary.md"
        self.output = self.home / "step-output.txt"
        for file in (self.summary, self.output):
            file.write_text("")

    def run(self, step, timeout=300):
        environment = {
            **self.environment,
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_OUTPUT": str(self.output),
            **{name: self.filled(value) for name, value in step.get("env", {}).items()},
        }
        assert "${{" not in step["run"], "an expression in shell is an injection"
        ran = subprocess.run(
            [*BASH, step["run"]],
            cwd=self.home / self.filled(step.get("working-directory", ".")),
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if "id" in step:
            for line in self.output.read_text().splitlines():
                name, _, value = line.partition("=")
                self.values[f"steps.{step['id']}.outputs.{name}"] = value
        return ran

    def filled(self, text):
        """The text with its expressions; an input that was not given is empty."""
        return _EXPRESSION.sub(lambda match: self.values.get(match[1], ""), text)


@dataclass(frozen=True)
class Instruction:
    word: str
    rest: str

    @property
    def words(self):
        """The words of an exec form, or of the shell form."""
        if self.rest.startswith("["):
            return yaml.safe_load(self.rest)
        return shlex.split(self.rest)


def dockerfile(path):
    """The instructions of a Dockerfile, continued lines joined."""
    joined = path.read_text().replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    return [Instruction(*line.split(maxsplit=1)) for line in lines]
