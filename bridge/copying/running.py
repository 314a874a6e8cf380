"""A copy from end to end: what is missing is written, then all of it is read back and compared."""

from collections import Counter
from collections.abc import Sequence

from amfs_core.evidence import outcome_steps

from bridge.copying import entries, kinds, plan
from bridge.copying.comparing import MADE_WITH_AN_ENTRY, OF_THE_KEY, Comparison
from bridge.copying.endpoints import Endpoint, unreadable
from bridge.copying.kinds import Work
from bridge.copying.plan import ENTRIES, Versions
from bridge.copying.report import SHOWN, CopyReport, KindReport, LeftOut
from bridge.copying.writing import Progress, Writer


class Copy:
    """One copy under way."""

    def __init__(self, source: Endpoint, target: Endpoint, *, progress: Progress | None = None) -> None:
        self._source = source
        self._target = target
        self._writer = Writer(target, progress)
        self._comparison = Comparison()

    def run(self, *, dry_run: bool) -> CopyReport:
        """Write what the target does not hold, unless it is a ``dry_run``, and report.

        Raises EndpointError where one end cannot be used any more; what was written until then stays.
        """
        with unreadable() as passed_over:
            main = entries.versions(self._source)
            current = entries.current(self._source, main)
        for told in dict.fromkeys(passed_over):
            self._writer.leave(LeftOut(kind=ENTRIES, reason=told))
        branches = entries.on_branches(self._source)
        held = entries.versions(self._target, _paths(main))
        planned = plan.planned(main, current, held, self._target)
        self._writer.left_out += planned.left_out
        with self._source.told():
            agents = entries.authors(self._source, (one for each in main.values() for one in each.values()))
        works = [kinds.work(kind, self._source, self._target, agents) for kind in kinds.ALL]
        for work in works:
            self._leave_out(work, held)
        missing: Counter[str] = Counter()
        if not dry_run:
            outcomes, *behind = works
            self._writer.total = len(planned.writes) + sum(len(work.todo) for work in works)
            # Outcomes first: what they cite is not there yet, and so is not moved a second time.
            self._writer.store(outcomes)
            self._writer.write(planned.writes)
            for work in behind:
                self._writer.store(work)
            missing[ENTRIES] = self._compare_entries(main)
            missing.update({work.kind.name: self._compare_kind(work, agents) for work in works})
        left = Counter(each.kind for each in self._writer.left_out)
        first = KindReport(
            kind=ENTRIES,
            found=sum(map(len, main.values())),
            stored=len(planned.writes) if dry_run else self._writer.stored[ENTRIES],
            held=planned.held,
            left_out=left[ENTRIES],
            missing=missing[ENTRIES],
        )
        others = [self._told_of(work, left, missing, dry_run=dry_run) for work in works]
        return self._report((first, *others, *kinds.not_taken(self._source)), branches, dry_run=dry_run)

    def _leave_out(self, work: Work, held: Versions) -> None:
        """Leave out what the target could store only with harm to what it holds, or to other files."""
        moves = work.kind is kinds.OUTCOMES and not hasattr(self._target.adapter, kinds.KEEPS_OUTCOMES)
        there = {f"{entity_path}/{key}" for entity_path, key in held} if moves else set()
        for record in list(work.todo):
            reason = None
            if moves and any(text in there for _, texts in outcome_steps(record) for text in texts):
                reason = "it cites what the target holds, and would move it once more"
            elif work.kind is kinds.COMMITS:
                reason = self._target.unusable_name(record.id)
            if reason is not None:
                work.todo.remove(record)
                self._writer.leave(LeftOut(kind=work.kind.name, reason=reason, id=kinds.name_of(record)))

    def _compare_entries(self, main: Versions) -> int:
        """How many versions are missing that were not left out."""
        held = entries.versions(self._target, _paths(main))
        left = {(each.entity_path, each.key, each.version) for each in self._writer.left_out}
        missing = 0
        for address, versions in main.items():
            for number, entry in versions.items():
                if (*address, number) in left:
                    continue
                other = held.get(address, {}).get(number)
                if other is None:
                    missing += 1
                    continue
                passed_over = OF_THE_KEY if number < max(versions) else frozenset()
                example = f"{entry.entry_key}@{number}"
                self._comparison.compare(
                    ENTRIES, entry, other, MADE_WITH_AN_ENTRY, example, passed_over=passed_over
                )
        return missing

    def _compare_kind(self, work: Work, agents: Sequence[str]) -> int:
        """As ``_compare_entries``."""
        if not work.records or work.is_impossible:
            return 0
        with self._target.told():
            there = kinds.identified(work.kind, self._target, agents)
        missing = 0
        for record in work.records:
            other = there.take(record)
            if other is None:
                missing += 1
            else:
                name = kinds.name_of(record)
                self._comparison.compare(work.kind.name, record, other, work.kind.made, name)
        return max(0, missing - sum(each.kind == work.kind.name for each in self._writer.left_out))

    def _told_of(self, work: Work, left: Counter[str], missing: Counter[str], *, dry_run: bool) -> KindReport:
        name, found = work.kind.name, len(work.records)
        left_out = found if work.is_impossible else left[name]
        stored = len(work.todo) if dry_run else self._writer.stored[name]
        return KindReport(
            kind=name,
            found=found,
            stored=stored,
            held=found - left_out - stored,
            left_out=left_out,
            missing=missing[name],
            reason=work.reason,
        )

    def _report(
        self, reports: tuple[KindReport, ...], branches: dict[str, int], *, dry_run: bool
    ) -> CopyReport:
        left_out = self._writer.left_out
        is_whole = not any(each.left_out or each.missing or each.reason for each in reports)
        return CopyReport(
            source=self._source.name,
            target=self._target.name,
            namespace=self._source.namespace,
            dry_run=dry_run,
            is_complete=is_whole and not branches and self._comparison.is_equal,
            kinds=reports,
            left_out_count=sum(each.left_out for each in reports),
            conflict_count=sum(each.is_conflict for each in left_out),
            left_out=tuple(left_out[:SHOWN]),
            differences=self._comparison.differences(),
            branches=branches,
        )


def _paths(versions: Versions) -> set[str]:
    return {entity_path for entity_path, _ in versions}
