"""``surtree plot``: a model as a figure for a paper, in a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from surtree._support.parameters import LeafCurveKind
from surtree._support.writing import FileKind, write_bytes
from surtree.cli import _options as options
from surtree.cli._command import Given, Take, command, option
from surtree.cli._console import Result
from surtree.cli._models import read_model
from surtree.cli._outputs import require_outputs
from surtree.estimators.tree import SurTree
from surtree.plot import (
    plot_calibration,
    plot_channels,
    plot_curves,
    plot_decision_curve,
    plot_path,
    plot_stability,
    plot_tree,
)
from surtree.plot.requirement import require_matplotlib
from surtree.reading.errors import UserError, failures

What = Literal["tree", "curves", "sizes", "calibration", "decision", "stability"]

_FIGURE = FileKind("that says how to write it", (".pdf", ".svg", ".png"), needed=True)
_INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4}
# Room around a picture of a given size, in inches.
_MARGIN = 0.1
# Greys lie between white paper and black ink: of risks from low to high, and of channels.
_GREY_RISKS = ("#9a9a9a", "#000000")
_GREYS = ("#404040", "#9a9a9a", "#c8c8c8", "#6e6e6e", "#e0e0e0", "#202020") * 3


@dataclass(frozen=True)
class Size:
    """The width and height of a figure, in inches."""

    width: float
    height: float


@dataclass(frozen=True)
class Canvas:
    """Where a figure is drawn."""

    size: Size | None  # how large it is; as large as it needs when None
    font_size: float | None  # the size of text in points
    filled: bool  # whether the picture finds room for its own labels, and fits its text

    @property
    def points(self) -> float:
        """The size of text: that of matplotlib, less where a usual figure would not fit."""
        if self.font_size is not None:
            return self.font_size
        if self.size is None or self.filled:
            return _USUAL_POINTS
        share = min(self.size.width / _USUAL.width, self.size.height / _USUAL.height)
        return _USUAL_POINTS * min(1.0, share)

    def axes(self) -> Any:
        """Return axes of a new figure; None where the picture makes its own."""
        from matplotlib import pyplot

        if self.size is None:
            return None
        size = (self.size.width, self.size.height)
        if not self.filled:
            return pyplot.figure(figsize=size, layout="constrained").add_subplot()
        across, up = _MARGIN / size[0], _MARGIN / size[1]
        return pyplot.figure(figsize=size).add_axes((across, up, 1 - 2 * across, 1 - 2 * up))


_VALIDATIONS = {
    "calibration": plot_calibration,
    "decision": plot_decision_curve,
    "stability": plot_stability,
}
# The defaults of matplotlib.
_USUAL, _USUAL_POINTS = Size(6.4, 4.8), 10.0


def _read_size(text: str) -> Size:
    parts = re.fullmatch(r"([\d.]+)\s*x\s*([\d.]+)\s*(in|cm|mm)?", text.strip().lower())
    try:
        width, height = (float(part) for part in parts.groups()[:2]) if parts else (0.0, 0.0)
    except ValueError:
        width = height = 0.0
    inch = _INCHES[(parts and parts[3]) or "in"]
    if not (0 < width * inch <= 100 and 0 < height * inch <= 100):
        raise ValueError(f"{text!r} is not a width and a height such as 7x5 (inches) or 18x12cm")
    return Size(width * inch, height * inch)


@dataclass(frozen=True)
class FigureOptions:
    """What a figure shows, and how."""

    what: What = option(
        "The tree with the curve of each leaf; the curves with the numbers at risk (by cause, or "
        "by arm, where there are several); the scores of every size in tuning; calibration, net "
        "benefit or stability, of a validated model.",
        default="tree",
    )
    curve: LeafCurveKind | None = option(
        "Which curve a leaf has; by default the one that the model predicts."
    )
    size: Size | None = option(
        "In inches, as 7x5, or as 18x12cm; text shrinks to fit. By default as large as the text "
        "needs.",
        reads=_read_size,
        metavar="WIDTHxHEIGHT",
    )
    font_size: float | None = option("The size of text.", min=1, max=100, metavar="POINTS")
    grey: bool = option("Shades of grey: darker is a higher risk.", "--grey", default=False)
    dpi: int | None = option("Dots per inch of a png; by default 300.", min=30, max=2400)


@command
def plot(
    given: Given,
    model: options.ModelFile,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write it; its ending says how: pdf, svg or png.",
        ),
    ],
    figure: FigureOptions,
    page: Annotated[options.PageOptions, Take("time_unit labels")],
    json: options.Json = False,
) -> Result:
    """Draw a figure of a model for a paper: pdf or svg with text as text and lines, or png."""
    what = figure.what
    require_outputs({"--output": (output, _FIGURE)}, model=model, labels=page.labels)
    ending = output.suffix.lower().removeprefix(".")
    with failures(ImportError):
        require_matplotlib()
    fitted = read_model(model)
    has_curves = what in ("tree", "curves")
    # Each option has an effect on some figures: whether this is one, and which they are.
    effects = {
        "dpi": (ending == "png", "a png"),
        "curve": (has_curves, "tree and curves"),
        "labels": (has_curves, "tree and curves"),
        "time_unit": (has_curves, "tree, curves"),
        "font_size": (not _is_grid(fitted, what), "curves of one kind, and other figures"),
        "grey": (_has_risks(fitted, what), "curves, and a tree without arms"),
    }
    for name, (has_effect, where) in effects.items():
        if name in given and not has_effect:
            raise UserError(f"{given[name]} has no effect here: it goes with {where}")
    with failures(ValueError):
        draw = _drawing(fitted, figure, page.read())
        canvas = Canvas(figure.size, figure.font_size, filled=has_curves)
        content = _drawn(draw, canvas, ending, 300 if figure.dpi is None else figure.dpi)
    with failures(OSError, about=f"cannot write {output}: "):
        write_bytes(output, content)
    return Result(str(output), {"figure": str(output)})


def _is_grid(model: SurTree, what: What) -> bool:
    """Return whether a picture has a panel for each leaf, with text that fits it."""
    return what == "curves" and model.tree_.outcome.is_several


def _has_risks(model: SurTree, what: What) -> bool:
    """Return whether a picture has colours that can be shades of grey."""
    outcome = model.tree_.outcome
    return what == "curves" or (what == "tree" and len(outcome.tree_curves(outcome.groups[0])) == 1)


def _drawing(model: SurTree, figure: FigureOptions, page: options.Page) -> Callable[[Any], Any]:
    """Return what draws a picture into axes, or into a new figure."""
    what = figure.what
    words: dict[str, Any] = {"labels": page.labels, "units": page.units, "kind": figure.curve}
    words["time_unit"] = page.time_unit
    if _is_grid(model, what):
        greys = _GREYS if figure.grey else None
        return lambda ax: plot_channels(model, ax, colours=greys, **words)
    if what in ("tree", "curves"):
        function = plot_tree if what == "tree" else plot_curves
        cmap = _greys() if figure.grey else None
        return lambda ax: function(model, ax, cmap=cmap, **words)
    if what == "sizes":
        sizes = model.sizes_
        if sizes is None:
            raise UserError("this model was not tuned: fit it without --no-tune to see its sizes")
        return lambda ax: plot_path(sizes, ax)
    validation = model.validation_
    if validation is None:
        raise UserError("this model was not validated: fit it with --validate 200, for example")
    drawn = _VALIDATIONS[what]
    return lambda ax: drawn(validation, ax)


def _greys() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("greys", list(_GREY_RISKS))


def _drawn(draw: Callable[[Any], Any], canvas: Canvas, ending: str, dpi: int) -> bytes:
    """Return a figure as the content of a file, the same for the same model."""
    import matplotlib as mpl

    mpl.use("agg")  # without a screen
    from matplotlib import pyplot

    import surtree

    dated = {"pdf": "CreationDate", "svg": "Date"}
    metadata: dict[str, Any] = {"Creator": f"surtree {surtree.__version__}"}
    metadata = metadata | {dated[ending]: None} if ending in dated else {}
    content = BytesIO()
    # Text as fonts that editors and readers know, not as outlines of type 3.
    style: Any = {"pdf.fonttype": 42, "svg.hashsalt": "surtree", "font.size": canvas.points}
    with mpl.rc_context(style):
        figure = draw(canvas.axes()).figure
        figure.savefig(content, format=ending, dpi=dpi, metadata=metadata)
        pyplot.close(figure)
    return content.getvalue()
