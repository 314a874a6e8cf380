"""What can be an end of a copy, and what is said where it cannot."""

from pathlib import Path

import pytest

from bridge.cli.main import main
from parity_tests.amfs.copying.commands import filled
from parity_tests.ledger import proves


@proves("copying.ends")
@pytest.mark.parametrize(
    ("source", "code", "said"),
    [
        ("nowhere.db", 3, "endpoint: 'nowhere.db': does not exist"),
        ("nowhere/", 3, "endpoint: 'nowhere/': does not exist"),
        ("", 2, "is empty; name a file"),
        ("http://me:secret@127.0.0.1:1", 3, "endpoint: 'http://127.0.0.1:1'"),
        ("postgresql://me:secret@127.0.0.1:1/x?password=secret", 3, "endpoint: 'postgresql://127.0.0.1:1/x'"),
    ],
)
def test_a_place_that_cannot_be_used_ends_the_copy_with_one_line_and_no_password(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str, code: int, said: str
) -> None:
    assert main(["copy", source, "--to", str(tmp_path / "copy.db")]) == code
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert said in shown.err
    assert "secret" not in shown.err


@proves("copying.apart")
def test_one_place_is_no_two_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = filled(tmp_path / "memory.db")
    (tmp_path / "link.db").symlink_to(source)
    for target in (source, tmp_path / "link.db", tmp_path / "." / source.name):
        assert main(["copy", str(source), "--to", str(target)]) == 2
        assert "which is the source; name another place" in capsys.readouterr().err
