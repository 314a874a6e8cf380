"""`python -m benchmarks.server`: tools over standard input and output, beside a server with an empty one."""

import asyncio
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from benchmarks import server_calls
from benchmarks.imports import imported, traced_import_s, uninvited
from benchmarks.measuring import Contender, Round, Timing, concurrently, side_by_side
from benchmarks.memory import megabytes, resident_bytes
from benchmarks.reporting import (
    Report,
    json_option,
    microseconds,
    plots_option,
    progress,
    quick_option,
    run,
)
from benchmarks.targets import verdict

CALLERS = 1
EMPTY = "an empty tool"
START = "start to first answer"
MEMORY = "memory of the process"
IMPORT = "import amfs_sqlite"
DEPENDENCIES = "aiosqlite, pydantic"

MOST_ABOVE_US = 400
MOST_START_RATIO = 1.3
MOST_IMPORT_US = 120_000


@click.command()
@quick_option
@json_option
@plots_option
def main(*, quick: bool, json_path: Path | None, plots_path: Path | None) -> None:
    """Measure tool calls, start, memory and import of our MCP server, beside one with an empty tool."""
    rounds, call_count, start_count = (10, 12, 3) if quick else (60, 30, 15)
    report = Report(f"MCP over stdio: {server_calls.KEY_COUNT:,} records, one client")
    with tempfile.TemporaryDirectory(prefix="server-") as folder:
        path = Path(folder) / "measured.db"
        asyncio.run(_measure_server(report, path, rounds, call_count, start_count))
    _measure_import(report, start_count)
    report.show(["operation", "p50", "p99", "the empty one's", "target"], _rows(report))
    report.write_json(json_path)
    if plots_path is not None:
        _plot(report, plots_path)


async def _measure_server(report: Report, path: Path, rounds: int, call_count: int, start_count: int) -> None:
    await server_calls.fill(path)
    ours, fast, empty = (
        server_calls.ours(path, "full"),
        server_calls.ours(path, "normal"),
        server_calls.empty(),
    )
    with progress("server:", 2) as steps:
        async with (
            server_calls.connected(ours) as (client, pid),
            server_calls.connected(fast) as (fast_client, _),
            server_calls.connected(empty) as (empty_client, empty_pid),
        ):
            asked = {
                EMPTY: lambda: server_calls.call_empty(empty_client),
                **server_calls.reading_calls(client),
                **server_calls.writing_calls(client, "full"),
                **server_calls.writing_calls(fast_client, "normal"),
            }
            contenders = {name: _of_call(each, call_count) for name, each in asked.items()}
            timings = await side_by_side(contenders, rounds)
            held, held_empty = _resident(pid), _resident(empty_pid)
        steps.next("starts")
        starts = await side_by_side(
            {
                "ours": server_calls.of_start(ours, server_calls.call_first),
                "empty": server_calls.of_start(empty, server_calls.call_empty),
            },
            start_count,
        )
    for name, timing in timings.items():
        _add(report, name, timing, timings[EMPTY])
    _add(report, START, starts["ours"], starts["empty"])
    report.add(MEMORY, CALLERS, {"bytes": held, "empty_bytes": held_empty})


def _of_call(call: server_calls.Call, count: int) -> Contender:
    async def one_round(number: int) -> Round:  # noqa: ARG001 - every round takes what is next
        return await concurrently(lambda _: call(), count, CALLERS)

    return one_round


def _resident(pid: int | None) -> int | None:
    return None if pid is None else resident_bytes(pid)


def _measure_import(report: Report, count: int) -> None:
    with progress("import:", count) as steps:
        imports, beside = [], []
        imported(f"amfs_sqlite, {DEPENDENCIES}")  # the first one may have to compile
        for _ in range(count):
            imports.append(imported("amfs_sqlite"))
            beside.append(imported(DEPENDENCIES).taken_s)
            steps.next()
        taken = [each.taken_s for each in imports]
        figures = {
            "ratio": statistics.median(taken) / statistics.median(beside),
            "p50_us": 1e6 * statistics.median(taken),
            "p99_us": 1e6 * max(taken),
            "traced_us": 1e6 * traced_import_s("amfs_sqlite"),
            "dependencies_us": 1e6 * statistics.median(beside),
            "uninvited": uninvited(imports[0].loaded),
        }
    report.add(IMPORT, CALLERS, figures)


def _add(report: Report, name: str, timing: Timing, beside: Timing) -> None:
    figures = {
        "ratio": timing.p50_us / beside.p50_us,
        "p50_us": timing.p50_us,
        "p99_us": timing.p99_us,
        "empty_us": beside.p50_us,
        "above_us": timing.p50_us - beside.p50_us,
    }
    report.add(name, CALLERS, figures)


def _rows(report: Report) -> Iterator[list[str]]:
    for name, columns in report.figures.items():
        figures = columns[str(CALLERS)]
        if name == MEMORY:
            yield [name, megabytes(figures["bytes"]), "", megabytes(figures["empty_bytes"]), ""]
        elif name == IMPORT:
            yield from _import_rows(figures)
        else:
            p50, p99, beside = (microseconds(figures[each]) for each in ("p50_us", "p99_us", "empty_us"))
            yield [name, p50, p99, "" if name == EMPTY else beside, _target(name, figures)]


def _target(name: str, figures: Mapping[str, Any]) -> str:
    if name == EMPTY:
        return ""
    if name == START:
        ratio = figures["ratio"]
        return f"{ratio:.2f} ×, {verdict(f'≤ {MOST_START_RATIO} ×', met=ratio <= MOST_START_RATIO)}"
    above = figures["above_us"]
    said = f"{'-' if above < 0 else '+'} {microseconds(abs(above))}"
    return f"{said}, {verdict(f'≤ + {MOST_ABOVE_US} µs', met=above <= MOST_ABOVE_US)}"


def _import_rows(figures: Mapping[str, Any]) -> Iterator[list[str]]:
    met = figures["p50_us"] <= MOST_IMPORT_US
    target = verdict(f"≤ {microseconds(MOST_IMPORT_US)}", met=met)
    yield [IMPORT, microseconds(figures["p50_us"]), microseconds(figures["p99_us"]), "", target]
    yield ["… as -X importtime counts it", microseconds(figures["traced_us"]), "", "", ""]
    yield [f"… {DEPENDENCIES} alone", microseconds(figures["dependencies_us"]), "", "", ""]
    uninvited = figures["uninvited"]
    said = verdict("no mcp, nothing optional", met=not uninvited)
    yield ["… and with it comes", ", ".join(uninvited) or "nothing more", "", "", said]


def _plot(report: Report, folder: Path) -> None:
    from benchmarks.plots import latency_plot  # noqa: PLC0415 - only who wants plots needs matplotlib

    calls = {
        name: each[str(CALLERS)] for name, each in report.figures.items() if "above_us" in each[str(CALLERS)]
    }
    del calls[START]
    series = {
        label: {name: figures[field] / 1000 for name, figures in calls.items()}
        for label, field in (("p50", "p50_us"), ("p99", "p99_us"))
    }
    level = calls[EMPTY]["p50_us"] / 1000
    latency_plot(folder / "server.svg", "Tool calls over stdio", series, y_label="ms", level=level)


if __name__ == "__main__":
    run(main)
