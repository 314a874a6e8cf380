"""`doctor`: what people and programs are told of a store's health, and when it ends with 1."""

import os
import re
import shutil
from pathlib import Path

import pytest

from amfs_sqlite.sqlite.doctor import symptoms
from parity_tests.cli.conftest import Run
from parity_tests.ledger import proves

pytestmark = pytest.mark.skipif(os.name != "posix", reason="what is put right here are file modes")


@pytest.fixture(autouse=True)
def sound_sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever SQLite is in use."""
    monkeypatch.setattr(symptoms, "known_faults", lambda: ())


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Mode and content of each file there."""
    return {each.name: (each.stat().st_mode, each.read_bytes()) for each in folder.iterdir()}


@proves("doctor.command", "doctor.sound")
def test_of_a_sound_store_it_says_that_nothing_is_to_be_done(store: Path, run: Run) -> None:
    before = contents(store.parent)
    ran = run("doctor")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0] == f"file         {store.resolve()}"
    assert ran.out.splitlines()[-2:] == [
        "nothing is to be done",
        "the records themselves are checked by 'amfs-sqlite verify'",
    ]
    document = run("doctor", "--json").document
    assert (document["ok"], document["findings"], document["fixed"], document["notFixed"]) == (
        True,
        [],
        [],
        [],
    )
    assert (document["path"], document["fileBytes"]) == (str(store.resolve()), store.stat().st_size)
    assert run("doctor", "--fix").code == 0
    assert contents(store.parent) == before


@proves("doctor.command", "doctor.nothing-unasked")
def test_what_it_finds_is_told_with_what_to_do_and_put_right_only_when_asked(store: Path, run: Run) -> None:
    store.chmod(0o640)
    left = store.with_name("copy.db.0123abcd.part")
    shutil.copyfile(store, left)
    left.chmod(0o600)
    os.utime(left, (0, 0))
    store.with_name("other.db").hardlink_to(store)
    before = contents(store.parent)
    ran = run("doctor")
    assert (ran.code, ran.err) == (1, "")
    text = re.sub(r"\s+", " ", ran.out)
    assert f"problem wide_mode {store.resolve()} can be read or written by other users (mode 640)" in text
    assert "next: chmod 600 keeps it private: --fix does so" in text
    assert f"problem half_made_copy {left.resolve()}" in text
    assert "problem hard_links" in text
    assert "3 problems: something is to be done\n" in ran.out
    document = run("doctor", "--json").document
    assert [each["code"] for each in document["findings"]] == ["wide_mode", "hard_links", "half_made_copy"]
    assert contents(store.parent) == before

    ran = run("doctor", "--fix", "--json")
    assert ran.code == 1
    assert [each["code"] for each in ran.document["fixed"]] == ["wide_mode", "half_made_copy"]
    assert [each["code"] for each in ran.document["findings"]] == ["hard_links"]
    assert (store.stat().st_mode & 0o777, left.exists()) == (0o600, False)
    store.with_name("other.db").unlink()
    assert run("doctor").code == 0


@proves("doctor.command", "doctor.nothing-unasked")
def test_what_could_not_be_put_right_is_told_with_the_reason(
    store: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_path: Path, _mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    store.chmod(0o644)
    monkeypatch.setattr(Path, "chmod", refused)
    ran = run("doctor", "--fix")
    assert ran.code == 1
    assert "not fixed" in ran.out
    assert "read_only: the system says: Operation not permitted" in re.sub(r"\s+", " ", ran.out)
    (failed,) = run("doctor", "--fix", "--json").document["notFixed"]
    assert (failed["code"], failed["path"]) == ("wide_mode", str(store.resolve()))


@proves("doctor.nothing-unasked")
def test_nothing_is_put_right_where_the_store_is_for_reading_alone(store: Path, run: Run) -> None:
    store.chmod(0o644)
    ran = run("--read-only", "doctor", "--fix")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("read_only: ")
    assert store.stat().st_mode & 0o777 == 0o644
    assert run("--read-only", "doctor").code == 1


@proves("doctor.command", "doctor.unusable")
@pytest.mark.parametrize(
    ("content", "code"),
    [(None, "no_store"), (b"", "no_store"), (b"just some text\n" * 100, "foreign_file")],
    ids=["missing", "empty", "text"],
)
def test_a_store_that_cannot_be_opened_is_a_finding_and_no_error(
    tmp_path: Path, run: Run, content: bytes | None, code: str
) -> None:
    path = tmp_path / "memory.db"
    if content is not None:
        path.write_bytes(content)
        path.chmod(0o644)
    for form in ([], ["--fix"]):
        ran = run("doctor", *form, "--db", str(path), "--json")
        assert ran.code == 1
        assert [each["code"] for each in ran.document["findings"]] == [code]
        ran = run("doctor", *form, "--db", str(path))
        assert (ran.code, "verify" in ran.out) == (1, False)
    assert path.exists() == (content is not None)
    if content is not None:
        assert path.read_bytes() == content
        assert path.stat().st_mode & 0o777 == 0o644
        assert list(tmp_path.iterdir()) == [path]


@proves("doctor.unusable")
def test_where_no_store_is_doctor_and_restore_advise_as_other_commands_do(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "memory.db"
    (found,) = run("doctor", "--db", str(path), "--json").document["findings"]
    told = f"no_store: '{path}': {found['problem']}; {found['advice']}"
    assert run("search", "word", "--db", str(path)).err.strip() == told
    missing = run("restore", str(tmp_path / "no.db"), "--db", str(path))
    assert (missing.code, missing.err.split(":")[0]) == (3, "no_store")


@proves("doctor.sqlite")
def test_a_fault_of_the_sqlite_in_use_is_told_last_and_in_one_line(
    store: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symptoms, "known_faults", lambda: ("it has a fault",))
    shutil.copyfile(store, f"{store}.before-schema-1")
    Path(f"{store}.before-schema-1").chmod(0o600)
    told = [line for line in run("doctor").out.splitlines() if line]
    assert told[-3:-1] == ["note: it has a fault", "nothing is to be done"]


@proves("doctor.command")
def test_a_hostile_name_is_shown_as_text(store: Path, run: Run) -> None:
    hostile = store.with_name("a\x1b[31m\u202eb.db")
    shutil.copyfile(store, hostile)
    hostile.chmod(0o644)
    ran = run("doctor", "--db", str(hostile))
    assert ran.code == 1
    assert all(line.isprintable() for line in ran.out.splitlines())
    assert str(hostile) == run("doctor", "--db", str(hostile), "--json").document["path"]
