"""What the security policy and the page on secrets say is so."""

import re
import shlex
from typing import get_args

import pytest

from amfs_sqlite.rules.redaction import PATTERNS, SECRET_MEMBER
from amfs_sqlite.sqlite.doctor import surroundings
from amfs_sqlite.sqlite.doctor.symptoms import HealthCode
from bridge.cli.main import app
from bridge.settings import SETTINGS
from parity_tests.docs import pages
from parity_tests.docs.commands import MODULES
from parity_tests.ledger import proves

POLICY = "SECURITY.md"
CODE = re.compile(r"`([a-z_]+)`")


@pages.documents_here
@proves("docs.security")
def test_every_link_of_the_policy_leads_somewhere() -> None:
    assert len(pages.links(POLICY)) >= 4
    for target in pages.links(POLICY):
        assert (pages.ROOT / target).is_file(), target


@pages.documents_here
@proves("docs.security")
def test_every_command_and_folder_in_the_policy_exists() -> None:
    flags = {setting.flag for setting in SETTINGS} | {"--json"}
    for span in pages.spans(POLICY):
        words = shlex.split(span)
        if span.startswith("parity_tests/"):
            assert (pages.ROOT / span).is_dir(), span
        elif words[0] == "amfs-sqlite":
            assert words[1] in app.commands, span
        elif words[:2] == ["python", "-m"]:
            assert words[2] in MODULES, span
        elif span.startswith("--"):
            assert span in flags, span


@pages.documents_here
@proves("docs.security")
def test_the_page_on_secrets_names_every_pattern() -> None:
    (table,) = pages.tables("docs/how-to/redact.md")
    named = [name for row in table for name in re.findall(r"`([a-z-]+)`", row[0])]
    assert sorted(named) == sorted([*(pattern.name for pattern in PATTERNS), SECRET_MEMBER])


@pages.documents_here
@proves("docs.security")
def test_the_page_on_health_names_every_finding() -> None:
    (table,) = pages.tables("docs/how-to/doctor.md")
    named = [code for row in table for code in CODE.findall(row[0])]
    assert sorted(named) == sorted(get_args(HealthCode))


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "smb3"])
@proves("docs.security")
def test_what_the_pages_call_network_file_systems_are_known(kind: str) -> None:
    assert kind in surroundings.NETWORK_KINDS
