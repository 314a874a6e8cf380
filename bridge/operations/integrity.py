"""Tamper evidence."""

from amfs_sqlite.models import Finding, VerifyReport
from amfs_sqlite.protocol.integrity import Progress
from amfs_sqlite.rules.anchors import Anchor, check_anchor, check_key, check_kind, signature_problem, signed
from bridge.operations.arguments import check_session
from bridge.session import Session


async def verify(
    session: Session,
    *,
    anchor: Anchor | None = None,
    since: Anchor | None = None,
    key: bytes | None = None,
    progress: Progress | None = None,
) -> VerifyReport:
    """Check the whole store, or what came ``since`` an anchor; what does not hold is reported, never raised.

    With a ``key`` the signatures of the anchors are checked before anything else. One that is not by it is
    a finding of code ``anchor``, and nothing that such an anchor says is used. Raises InvalidArgumentError
    for a key that is none, and for one of another kind than an anchor's signature: it checks nothing.
    """
    check_session(session)
    check_anchor(anchor, "anchor")
    check_anchor(since, "since")
    if key is not None:
        check_key(key)
        for each in (anchor, since):
            check_kind(each, key)
    forged: list[Finding] = []
    trusted: dict[str, Anchor | None] = {}
    for argument, given in (("anchor", anchor), ("since", since)):
        problem = None if given is None or key is None else signature_problem(given, key)
        trusted[argument] = None if problem else given
        if problem:
            forged.append(Finding(code="anchor", message=problem))
    report = await session.adapter.verify(**trusted, progress=progress)
    return report.copied(findings=(*forged, *report.findings)) if forged else report


async def anchor(session: Session, *, key: bytes | None = None) -> Anchor:
    """What the store comes to now, to be kept elsewhere; signed where there is a ``key``.

    The key is a secret of at least 16 bytes, or Ed25519's private key in PEM, which takes the extra
    ``signing``. Raises InvalidArgumentError.
    """
    check_session(session)
    taken = await session.adapter.anchor()
    return taken if key is None else signed(taken, key)
