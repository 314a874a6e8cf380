"""The adapter by its name: what a configuration of the SDK may say of it, and what it makes."""

from pathlib import Path
from typing import Any

import pytest
from amfs import AgentMemory, factory
from amfs_core.abc import AdapterABC
from amfs_core.exceptions import AdapterError
from amfs_core.models import LayerConfig

import amfs_sqlite.sync
from amfs_sqlite.sync import SyncSqliteAdapter
from parity_tests.ledger import proves

CONFIGURATION = """\
namespace: team
layers:
  primary:
    adapter: sqlite
    options: {path: kept/memory.db, durability: normal, busy_timeout_s: 1}
"""


@pytest.fixture(autouse=True)
def _registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(factory, "_ADAPTER_REGISTRY", {})
    monkeypatch.chdir(tmp_path)


def made(**options: Any) -> AdapterABC:
    """What the SDK makes of these options."""
    amfs_sqlite.sync.register()
    return factory.create_adapter(LayerConfig(adapter="sqlite", options=options), "team")


@proves("programs.registered")
def test_a_configuration_chooses_the_adapter_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "amfs.yaml").write_text(CONFIGURATION, encoding="utf-8")
    amfs_sqlite.sync.register()
    with AgentMemory("scout") as memory:
        memory.write("svc", "retries", 3)
        assert isinstance(memory.adapter, SyncSqliteAdapter)
        assert (memory.adapter.namespace, memory.adapter.path) == ("team", str(tmp_path / "kept/memory.db"))
    with SyncSqliteAdapter(tmp_path / "kept" / "memory.db", namespace="team") as adapter:
        read = adapter.read("svc", "retries")
    assert read is not None
    assert read.value == 3


@proves("programs.registered")
def test_registering_twice_is_registering_once() -> None:
    amfs_sqlite.sync.register()
    before = dict(factory._ADAPTER_REGISTRY)
    amfs_sqlite.sync.register()
    assert before == factory._ADAPTER_REGISTRY
    assert list(before) == ["sqlite"]


@proves("programs.options-refused")
@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "options names no path; say in which file, as in 'path: memory.db'"),
        ({"path": None}, "options names no path; say in which file, as in 'path: memory.db'"),
        (
            {"path": "m.db", "root": "."},
            "options holds 'root', which is none; there are path, durability, mode, busy_timeout_s",
        ),
        ({"path": 5}, "path is 5; give the path of a file as text or pathlib.Path"),
        ({"path": "m.db", "namespace": "x"}, None),
        ({"path": "m.db", "busy_timeout_s": -1}, "busy_timeout_s is -1; it must be seconds from 0"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused_and_nothing_is_made(
    tmp_path: Path, options: dict[str, Any], complaint: str | None
) -> None:
    if complaint is None:
        with pytest.raises(TypeError, match="namespace"):
            made(**options)
    else:
        with pytest.raises(AdapterError) as refused:
            made(**options)
        assert isinstance(refused.value, ValueError)
        assert str(refused.value) == complaint
    assert list(tmp_path.iterdir()) == []


@proves("programs.one-file")
def test_two_adapters_of_one_configuration_see_each_others_writes() -> None:
    first, second = made(path="memory.db"), made(path="memory.db")
    with AgentMemory("scout", adapter=first) as scout, AgentMemory("executor", adapter=second) as executor:
        assert [scout.write("svc", "k", 1).version, executor.write("svc", "k", 2).version] == [1, 2]
        read = scout.read("svc", "k")
    assert read is not None
    assert (read.value, read.version) == (2, 2)
