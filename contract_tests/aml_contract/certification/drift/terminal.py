"""A drift on a terminal: what is being measured, and what it came to."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from aml_contract.certification.drift.document import Drift
from aml_contract.certification.drift.session import Watch
from aml_contract.certification.fingerprint import Sameness
from aml_contract.report.bars import Bars
from aml_contract.report.wording import visible

_SIGNS = {Sameness.SAME: "✓", Sameness.CHANGED: "✗", Sameness.UNKNOWN: "?"}
_STYLES = {
    Sameness.SAME: "bold green",
    Sameness.CHANGED: "bold red",
    Sameness.UNKNOWN: "bold cyan",
}


class ProgressView(Bars, Watch):
    """A bar for what is being measured on a terminal, a line for each part elsewhere."""

    def __init__(self, console: Console) -> None:
        self._console = console
        super().__init__(
            Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                TimeElapsedColumn(),
                console=console,
                transient=True,
                disable=not console.is_terminal,
            )
        )
        self._task = self._bars.add_task("", total=1.0)

    def began(self, part: str) -> None:
        """Draw its bar, or print its name."""
        self._bars.reset(self._task, description=part)
        if not self._console.is_terminal:
            self._console.print(f"… {part}", highlight=False)

    def said(self, text: str) -> None:
        """Show what is being waited for."""
        if self._console.is_terminal:
            self._bars.update(self._task, description=escape(visible(text)))
        else:
            self._console.print(Text(visible(text)), soft_wrap=True)

    def progressed(self, share: float) -> None:
        """Move the bar on."""
        self._bars.update(self._task, completed=share)


def print_drift(console: Console, found: Drift) -> None:
    """Print what was compared, the answer at the end."""
    for name, part in found.parts.items():
        console.print()
        heading = Text(f"{_SIGNS[part.sameness]} {name}: ", style=_STYLES[part.sameness])
        heading.append(visible(part.sentence), style="default")
        console.print(heading, soft_wrap=True)
        for line in [*part.differences, *part.remarks]:
            console.print(Padding(Text(visible(line)), (0, 0, 0, 4), expand=False))
    console.print()
    console.print(Text(visible(found.survival)), soft_wrap=True)
    for remark in found.remarks:
        console.print(Text(f"Note: {visible(remark)}", style="dim"), soft_wrap=True)
    console.print()
    answer = Text(f"{found.sameness.value.upper()}: ", style=_STYLES[found.sameness])
    answer.append(visible(found.sentence), style="default")
    console.print(answer, soft_wrap=True)
