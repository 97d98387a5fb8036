"""Live progress of a certification: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from aml_contract.certification.report.terminal import SIGNS, STYLES
from aml_contract.certification.session import Watch
from aml_contract.certification.stage import ORDER, StageResult, StageVerdict
from aml_contract.latency import in_words
from aml_contract.report.bars import Bars
from aml_contract.report.wording import visible

_QUARTERS = 4
_HOPELESS = (
    "  No certificate comes of this any more; what follows is measured all the same. Ctrl-C ends "
    "it, and leaves a report."
)


class ProgressView(Bars, Watch):
    """Shows the stage under way and what it does; finished ones stay as lines.

    Args:
        console: where to; a terminal gets a live bar, anything else a line now and then.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._stage = ""
        self._said = ""
        self._share = 0.0
        self._hopeful = True
        super().__init__(
            Progress(
                SpinnerColumn(),
                TextColumn("{task.fields[stage]}"),
                BarColumn(bar_width=24),
                TimeElapsedColumn(),
                TextColumn("{task.description}"),
                console=console,
                transient=True,
                disable=not console.is_terminal,
            )
        )
        self._task = self._bars.add_task("", total=1.0, stage="", visible=False)

    def stage_kept(self, result: StageResult) -> None:
        """Say that it need not be measured again."""
        self._finished(result, "kept")

    def stage_started(self, stage: str) -> None:
        """Draw its bar."""
        self._stage, self._said, self._share = stage, "", 0.0
        name = f"{stage}, {ORDER.index(stage) + 1} of {len(ORDER)}"
        self._bars.reset(self._task, description="", stage=name, visible=True)
        if not self._console.is_terminal:
            self._line(f"… {name}")

    def said(self, text: str) -> None:
        """Show what it does; where nothing can be shown and taken away, each text once."""
        if self._console.is_terminal:
            first = text.partition("\n")[0]
            self._bars.update(self._task, description=escape(visible(first)))
        elif text != self._said:
            self._said = text
            self._line(f"  {text}")

    def progressed(self, share: float) -> None:
        """Move the bar on; elsewhere, a line at each quarter."""
        self._bars.update(self._task, completed=share)
        before, self._share = self._share, share
        quarter = int(share * _QUARTERS)
        if not self._console.is_terminal and quarter > int(before * _QUARTERS):
            self._line(f"  {self._stage}: {quarter * 100 // _QUARTERS} % done")

    def stage_finished(self, result: StageResult) -> None:
        """Leave a line that says what it came to."""
        self._bars.update(self._task, visible=False)
        self._finished(result, in_words(result.seconds))

    def _finished(self, result: StageResult, how: str) -> None:
        judgement = result.judgement
        sign = SIGNS[judgement.verdict]
        text = f"{sign} {result.stage} {judgement.verdict} ({how}): {judgement.summary}"
        self._line(text, STYLES[judgement.verdict])
        if self._hopeful and judgement.verdict is not StageVerdict.PASS:
            self._hopeful = False
            if result.stage != ORDER[-1]:
                self._line(_HOPELESS)

    def _line(self, text: str, style: str | None = None) -> None:
        self._console.print(
            visible(text), style=style, markup=False, highlight=False, soft_wrap=True
        )
