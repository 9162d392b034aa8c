"""How all figures look: colours, lines, letters and sizes, and how a figure becomes a file.

Colours are those of Okabe and Ito: they can be told apart by all readers. Lines differ by their
dashes as well, so that they can be told apart on grey paper. Sizes are those of papers of two
columns. The same figure gives the same bytes: nothing tells when it was made, letters are those
that come with Matplotlib, and they are embedded.
"""

from __future__ import annotations

import importlib
import io
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noctule.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

#: Okabe and Ito's colours, with a dark grey for black, and without yellow, which fades on white.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#444444")
#: Widths of figures in inches, by the columns of a paper that they take.
WIDTHS: Mapping[int, float] = {1: 3.4, 2: 7.1}
#: What pictures can be written as.
FORMATS = ("pdf", "png", "svg")

#: What is not drawn in a colour of its own.
OTHERS = "#bbbbbb"
#: The ground of what hosts do, where they do nothing.
IDLE = "#f2f2f0"
#: Lines that help to read others.
GUIDE, GRID = "0.35", "0.9"

# from nothing to everything, lighter to darker on every device
_USE = (IDLE, "#c6dbe9", "#7fb3d5", "#0072B2", "#08335c")
_DASHES: tuple[Any, ...] = (
    "solid",
    (0, (4, 1.2)),
    (0, (1.2, 0.9)),
    (0, (6, 1.2, 1.2, 1.2)),
    (0, (2.4, 1.0)),
    (0, (8, 1.6)),
    (0, (4, 1, 1, 1, 1, 1)),
)
_STYLE: Mapping[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.labelcolor": "0.15",
    "axes.edgecolor": "0.45",
    "axes.linewidth": 0.7,
    "axes.titlesize": 8,
    "axes.titlelocation": "left",
    "axes.titlepad": 4,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-4, 7),
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.color": "0.45",
    "ytick.color": "0.45",
    "xtick.labelcolor": "0.15",
    "ytick.labelcolor": "0.15",
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.fontsize": 7,
    "legend.title_fontsize": 7,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "hatch.linewidth": 0.6,
    "hatch.color": "0.35",
    "lines.linewidth": 1.2,
    "svg.hashsalt": "noctule",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}
_METADATA: Mapping[str, Mapping[str, None]] = {
    "pdf": {"CreationDate": None},
    "svg": {"Date": None},
    "png": {},
}
# a letter of a legend, and what stands beside its text, in inches
_LETTER, _HANDLE = 0.055, 0.5


@contextmanager
def style() -> Iterator[None]:
    """Make figures and axes that are created meanwhile look like those of Noctule."""
    with matplotlib().rc_context(dict(_STYLE)):
        yield


def matplotlib() -> Any:
    """Import the library, which is only installed if asked for."""
    try:
        return importlib.import_module("matplotlib")
    except ImportError:
        raise InputError(
            "pictures: matplotlib is not installed, expected it from pip install 'noctule[plots]'"
        ) from None


def check_columns(columns: int) -> float:
    """Return the width of a figure that takes so many columns of a paper."""
    if columns not in WIDTHS:
        raise InputError(f"picture: columns: got {columns!r}, expected 1 or 2")
    return WIDTHS[columns]


@contextmanager
def figure_of(
    n_rows: int,
    height: float,
    *,
    columns: int = 2,
    side_by_side: int = 1,
    share_x: bool = True,
    share_y: bool = False,
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Give a figure with rows of panels in our style, and its panels row by row.

    A row is `height` inches high across two columns, and lower in one.
    """
    width = check_columns(columns)
    with style():
        from noctule.plots.inline import InlineFigure

        factor = 1.0 if columns == 2 else 0.75
        size = (width, 0.5 + factor * height * n_rows)
        figure = InlineFigure(figsize=size, layout="constrained")
        panels = figure.subplots(
            n_rows, side_by_side, sharex=share_x, sharey=share_y, squeeze=False
        )
        yield figure, list(panels.flat)


def line_style(i: int) -> dict[str, Any]:
    """Return how the i-th line looks; the first 49 differ in their colours or in their dashes."""
    dashes = _DASHES[(i + i // len(PALETTE)) % len(_DASHES)]
    return {"color": PALETTE[i % len(PALETTE)], "linestyle": dashes, "linewidth": 1.2}


def use_colours() -> Colormap:
    """Return the colours of how much something is used, from not at all to wholly."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("use", list(_USE))


def ordered_shades(n: int) -> list[str]:
    """Return shades for n classes in their order, from light to dark."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    viridis = colormaps["viridis"]
    places = [0.5] if n == 1 else [0.93 - 0.88 * i / (n - 1) for i in range(n)]
    return [to_hex(viridis(place)) for place in places]


def is_dark(shade: str) -> bool:
    """Tell whether letters on a shade are read better if they are white."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(shade)
    return 0.299 * red + 0.587 * green + 0.114 * blue < 0.5


def legend_above(axes: Axes) -> None:
    """Put what the lines mean above the panel, in as many columns as there is room for."""
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        room = axes.bbox.width / axes.figure.dpi
        n_columns = fitting_columns(labels, room)
        axes.legend(
            handles,
            labels,
            ncols=n_columns,
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            borderaxespad=0.2,
        )


def fitting_columns(labels: list[str], room: float) -> int:
    """Return how many columns of a legend with such labels have room in so many inches."""
    widest = _HANDLE + _LETTER * max(map(len, labels))
    return max(1, min(len(labels), int(room / widest)))


def check_format(path: str | os.PathLike[str]) -> str:
    """Return the format that the name of a picture asks for."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise InputError(f"{os.fspath(path)}: got no known ending, expected .{', .'.join(FORMATS)}")
    return suffix


def save_figure(figure: Figure, path: str | os.PathLike[str], *, dpi: float = 150) -> None:
    """Write a figure as .pdf, .png or .svg; a picture that is there is replaced."""
    suffix = check_format(path)
    data = io.BytesIO()
    with style():
        figure.savefig(data, format=suffix, dpi=dpi, metadata=dict(_METADATA[suffix]))
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data.getvalue())
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
