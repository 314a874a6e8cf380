"""What an import costs in a fresh interpreter, and what comes with it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import packages_distributions, requires
from typing import Any

DISTRIBUTION = "amfs-sqlite"
PROBE = """
import json, sys, time
begun = time.perf_counter()
import {modules}
taken_s = time.perf_counter() - begun
loaded = sorted({{name.partition(".")[0] for name in sys.modules}})
print(json.dumps({{"taken_s": taken_s, "loaded": loaded}}))
"""


@dataclass(frozen=True, slots=True)
class Import:
    """An import in an interpreter of its own: how long it took, and which packages were loaded by the end."""

    taken_s: float
    loaded: Sequence[str]


def imported(modules: str) -> Import:
    """Import these, parted by commas."""
    answer: dict[str, Any] = json.loads(_python("-c", PROBE.format(modules=modules)).stdout)
    return Import(answer["taken_s"], answer["loaded"])


def traced_import_s(module: str) -> float:
    """The total that ``-X importtime`` shows; tracing takes time too."""
    last = _python("-X", "importtime", "-c", f"import {module}").stderr.splitlines()[-1]
    _, cumulative_us, _ = last.split("|")
    return int(cumulative_us) / 1e6


def uninvited(loaded: Iterable[str]) -> list[str]:
    """The distributions among those packages that must not come with ours: mcp, and what is in extras."""
    extras = [each for each in requires(DISTRIBUTION) or () if "extra ==" in each]
    refused = {"mcp", *(re.split(r"[^\w.-]", each)[0].lower() for each in extras)}
    known = packages_distributions()
    return sorted(refused & {name.lower() for package in loaded for name in known.get(package, ())})


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Compiled modules are kept, as those of an installed package are."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
