"""Layout in ems, so that text and everything around it scale together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Transform

POINTS_PER_INCH = 72.0

# Line height, in ems.
LINE = 1.25
# Relative size of secondary text ...
SMALL = 0.85
# ... and its opacity.
FAINT = 0.75

# Hinting on screens makes small text wider than its outlines, by up to this factor.
_SLACK = 1.12
# Margin of a new figure, in inches; a title of the user fits in it.
_MARGIN = 0.35
# Preferred size of a new figure, in inches: the shape of a screen.
_SCREEN = (15.0, 9.0)


class Ruler:
    """Measures text in ems, in the font that matplotlib uses at the moment.

    Characters are measured one by one, each only once: lines are broken in many ways before the
    best is chosen, and to shape every one of them takes long.
    """

    def __init__(self) -> None:
        self._widths: dict[str, float] = {}

    def __call__(self, text: str) -> float:
        """Return the width of the widest line of a text."""
        return max(sum(map(self._character, line)) for line in text.split("\n"))

    def _character(self, character: str) -> float:
        if character not in self._widths:
            # Measured between letters: the outline of a space alone is empty.
            self._widths[character] = _SLACK * (_outline(f"H{character}H") - _outline("HH"))
        return self._widths[character]


def _outline(text: str) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    size = 100.0
    width, _, _ = text_to_path.get_text_width_height_descent(
        text, FontProperties(size=size), ismath=False
    )
    return width / size


def text_height(text: str) -> float:
    """Return the height of a text in ems: of all its lines."""
    return LINE * (1 + text.count("\n"))


class Layout(Protocol):
    """A way to arrange a picture: the least room that it needs, and what looks well, in ems."""

    @property
    def least(self) -> tuple[float, float]:
        """Width and height below which text would overlap."""

    @property
    def comfortable(self) -> tuple[float, float]:
        """Width and height of a new figure."""


AnyLayout = TypeVar("AnyLayout", bound=Layout)


@dataclass(frozen=True)
class Page(Generic[AnyLayout]):
    """The place of a picture, and how large its text is."""

    ax: Axes  # the axes whose place the picture takes
    layout: AnyLayout  # how it is arranged
    fontsize: float  # the size of its text in points: one em
    width: float  # the room that it has, in ems
    height: float

    @property
    def ems(self) -> Transform:
        """From ems, counted from below and from the left, to matplotlib's coordinates."""
        from matplotlib.transforms import Affine2D

        # Not the data coordinates of the axes: other axes may share them.
        return Affine2D().scale(1 / self.width, 1 / self.height) + self.ax.transAxes

    def text(self, x: float, y: float, text: str, *, size: float = 1.0, **style: Any) -> None:
        """Write a text at a place in ems."""
        # A column may be called "$x_1$": it must not be parsed as mathematics.
        self.ax.text(
            x,
            y,
            text,
            transform=self.ems,
            fontsize=size * self.fontsize,
            parse_math=False,
            usetex=False,
            **style,
        )

    def line(self, x: ArrayLike, y: ArrayLike, **style: Any) -> None:
        """Draw a line from place to place, in ems."""
        from matplotlib.lines import Line2D

        self.ax.add_line(Line2D(x, y, transform=self.ems, clip_on=False, **style))


def open_page(
    layouts: Sequence[AnyLayout], ax: Axes | None, fontsize: float | None
) -> Page[AnyLayout]:
    """Choose the best layout of those whose text is largest, in given axes or in a new figure."""
    if fontsize is not None and not fontsize > 0:
        raise ValueError(f"fontsize must be a number of points above zero; got {fontsize!r}.")
    return _new_page(layouts, fontsize) if ax is None else _page_of(ax, layouts, fontsize)


def _new_page(layouts: Sequence[AnyLayout], fontsize: float | None) -> Page[AnyLayout]:
    from matplotlib import pyplot, rcParams

    layout = max(layouts, key=lambda layout: _font_size(layout, _SCREEN))
    size = fontsize or float(rcParams["font.size"])
    width, height = layout.comfortable
    inches = [size * ems / POINTS_PER_INCH + 2 * _MARGIN for ems in (width, height)]
    figure = pyplot.figure(figsize=(inches[0], inches[1]))
    left, bottom = _MARGIN / inches[0], _MARGIN / inches[1]
    ax = figure.add_axes((left, bottom, 1 - 2 * left, 1 - 2 * bottom))
    ax.set_axis_off()
    return Page(ax, layout, size, width, height)


def _page_of(ax: Axes, layouts: Sequence[AnyLayout], fontsize: float | None) -> Page[AnyLayout]:
    ax.set_axis_off()
    area = inches_of(ax)
    layout = max(layouts, key=lambda layout: _font_size(layout, area))
    size = fontsize or _font_size(layout, area)
    # With a font size of the user's own, text may need more room than there is.
    width, height = (
        max(least, POINTS_PER_INCH * inches / size)
        for least, inches in zip(layout.least, area, strict=True)
    )
    return Page(ax, layout, size, width, height)


def _font_size(layout: Layout, area: tuple[float, float]) -> float:
    """Return the size of text in an area of some inches: the usual one, or less to fit."""
    from matplotlib import rcParams

    fitting = (
        POINTS_PER_INCH * inches / least for least, inches in zip(layout.least, area, strict=True)
    )
    return min(float(rcParams["font.size"]), *fitting)


def inches_of(ax: Axes) -> tuple[float, float]:
    """Return the width and height of axes, after their figure has found them their place."""
    engine = ax.figure.get_layout_engine()
    if engine is not None:
        engine.execute(ax.figure.figure)
    box = ax.get_window_extent()
    return box.width / ax.figure.dpi, box.height / ax.figure.dpi
