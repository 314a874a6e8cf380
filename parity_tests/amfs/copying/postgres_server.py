"""A PostgreSQL server for the time of one module of tests: from the system's own programs, on no network."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = ("initdb", "pg_ctl", "postgres")
DEBIAN = Path("/usr/lib/postgresql")
UNPRIVILEGED = ("postgres", "nobody")
"""Who runs it where the tests are run by root: it refuses root itself."""
PATIENCE_S = 120
WITHOUT_DURABILITY = "-c fsync=off -c full_page_writes=off -c synchronous_commit=off"


def programs() -> Path | None:
    """The folder that holds the server and what starts it, the newest there is."""
    named = shutil.which("initdb")
    found = [] if named is None else [Path(named).resolve().parent]
    found += sorted(DEBIAN.glob("*/bin"), key=lambda each: float(each.parent.name), reverse=True)
    return next((each for each in found if all((each / name).exists() for name in PROGRAMS)), None)


def user() -> str | None:
    """Who is to run it, where that cannot be who runs the tests."""
    import pwd  # noqa: PLC0415 - no such module on Windows

    if os.geteuid() != 0:
        return None
    known = {each.pw_name for each in pwd.getpwall()}
    return next(name for name in UNPRIVILEGED if name in known)


def missing() -> str | None:
    """Why no server can be started here; None where it can."""
    if os.name != "posix":
        return "PostgreSQL is started through a Unix socket, which this system has none of"
    return None if programs() else "PostgreSQL is not installed: apt-get install postgresql"


@contextmanager
def served() -> Iterator[str]:
    """The folder of the socket of a server without any database of ours."""
    # Short, as the path of a socket must be, and open to another user, as pytest's own folders are not.
    folder = Path(tempfile.mkdtemp(prefix="amfs-pg-"))
    run_by = user()
    if run_by is not None:
        shutil.chown(folder, run_by)
    bin_folder, data = programs(), folder / "data"
    assert bin_folder is not None

    def run(program: str, *arguments: str) -> None:
        subprocess.run(
            [bin_folder / program, "-D", data, *arguments],
            user=run_by,
            extra_groups=None if run_by is None else [],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=PATIENCE_S,
            check=True,
        )

    try:
        run("initdb", "--username=amfs", "--auth=trust", "--encoding=UTF8", "--no-sync")
        options = f"-k {folder} -c listen_addresses='' {WITHOUT_DURABILITY}"
        run("pg_ctl", "start", "--wait", f"--log={folder / 'log'}", f"--options={options}")
        try:
            yield str(folder)
        finally:
            run("pg_ctl", "stop", "--wait", "--mode=immediate")
    finally:
        shutil.rmtree(folder)


def dsn(folder: str, database: str) -> str:
    """How a database of this server is named."""
    return f"postgresql://amfs@/{database}?host={folder}"
