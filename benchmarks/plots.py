"""Plots of figures, as SVG. matplotlib is needed for them alone, so it is imported when one is drawn."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import click

SIZE_INCHES = (9.0, 5.5)


def growth_plot(
    path: Path, title: str, series: Mapping[str, Mapping[int, float]], *, x_label: str, y_label: str
) -> None:
    """A line for each series over numbers that grow by factors; both axes are logarithmic."""
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(figsize=SIZE_INCHES, layout="constrained")
    for name, points in series.items():
        axes.plot(list(points), list(points.values()), marker="o", markersize=4, label=name)
    axes.set(title=title, xlabel=x_label, ylabel=y_label, xscale="log", yscale="log")
    axes.grid(visible=True, alpha=0.3)
    figure.legend(loc="outside right upper", fontsize="small")
    _save(pyplot, figure, path)


def latency_plot(
    path: Path, title: str, series: Mapping[str, Mapping[str, float]], *, y_label: str, level: float = 1.0
) -> None:
    """A group of bars for each operation, one bar for each series, and a line at ``level``."""
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(figsize=SIZE_INCHES, layout="constrained")
    operations = list(dict.fromkeys(name for points in series.values() for name in points))
    width = 0.8 / max(1, len(series))
    for number, (name, points) in enumerate(series.items()):
        places = [operations.index(operation) + (number + 0.5) * width - 0.4 for operation in points]
        axes.bar(places, list(points.values()), width, label=name)
    axes.axhline(level, color="black", linewidth=0.8, linestyle="--")
    axes.set(title=title, ylabel=y_label, yscale="log")
    axes.set_xticks(range(len(operations)), operations, rotation=40, ha="right")
    axes.grid(visible=True, axis="y", alpha=0.3)
    axes.legend(fontsize="small")
    _save(pyplot, figure, path)


def _pyplot() -> Any:
    try:
        matplotlib = import_module("matplotlib")
        matplotlib.use("Agg")
        return import_module("matplotlib.pyplot")
    except ImportError as missing:
        raise click.ClickException("plots need matplotlib: pip install matplotlib") from missing


def _save(pyplot: Any, figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="svg", metadata={"Date": None})
    pyplot.close(figure)
