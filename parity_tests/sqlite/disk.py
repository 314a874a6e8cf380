"""What lies on the disk, as a test looks at it or prepares it."""

from pathlib import Path


def data(path: str | Path) -> bytes:
    """The bytes of a file."""
    return Path(path).read_bytes()


def put(path: str | Path, content: bytes) -> None:
    """Make or overwrite a file that nobody has open."""
    Path(path).write_bytes(content)


def stands(path: str | Path) -> bool:
    """Whether there is anything of this name."""
    return Path(path).exists()


def names(folder: Path) -> list[str]:
    """What is in a folder, in order."""
    return sorted(each.name for each in folder.iterdir())


def mode(path: str | Path) -> int:
    """The permissions of a file."""
    return Path(path).stat().st_mode & 0o777


def private_copy(source: Path, path: str | Path) -> None:
    """A copy that only its owner may read."""
    put(path, source.read_bytes())
    Path(path).chmod(0o600)


def remove(path: str | Path) -> None:
    """Take a file away."""
    Path(path).unlink()
