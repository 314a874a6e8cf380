"""No file says where it was made, or where packages are to come from."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from parity_tests.architecture import sources

FOREIGN = re.compile(
    r"(?<![\w.~})-])/(?:work|root|home)/"
    r"|\b(?:pypi|pythonhosted|npmjs)\.(?:org|com|io)\b"
)


def foreign_places(root: Path, paths: list[str]) -> list[str]:
    """All lines of these files that name a place on somebody's machine, or a registry."""
    found = []
    for path in paths:
        content = (root / path).read_bytes() if (root / path).is_file() else b""
        if b"\0" in content:
            continue
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
            if match := FOREIGN.search(line):
                found.append(f"{path}:{number} names {match[0]}")
    return found


def test_no_file_names_a_place_outside_the_project() -> None:
    git = shutil.which("git")
    if git is None or not (sources.ROOT / ".git").exists():
        pytest.skip("only a git clone knows the project's files; this is an installed copy")
    command = [git, "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=sources.ROOT, capture_output=True, text=True, check=True)
    assert foreign_places(sources.ROOT, listed.stdout.split("\0")) == []


@pytest.mark.parametrize("place", ["/{}/me/it.db", "see `/{}/x`", "file:///{}/x"])
@pytest.mark.parametrize("folder", ["home", "root", "work"])
def test_a_path_of_a_machine_is_found(tmp_path: Path, place: str, folder: str) -> None:
    sources.write(tmp_path, {"notes.md": "\n" + place.format(folder)})
    (found,) = foreign_places(tmp_path, ["notes.md"])
    assert found.startswith("notes.md:2 ")


@pytest.mark.parametrize("host", ["pypi.{}", "files.pythonhosted.{}", "registry.npmjs.{}"])
def test_the_host_of_a_registry_is_found(tmp_path: Path, host: str) -> None:
    sources.write(tmp_path, {"pip.conf": f"index-url = https://{host.format('org')}/simple"})
    assert len(foreign_places(tmp_path, ["pip.conf"])) == 1


@pytest.mark.parametrize("text", ["~/work/notes", "docs/work/it.md", "homework/", "/usr/bin/env"])
def test_other_paths_are_left_alone(tmp_path: Path, text: str) -> None:
    sources.write(tmp_path, {"notes.md": text})
    assert foreign_places(tmp_path, ["notes.md", "deleted.md"]) == []
