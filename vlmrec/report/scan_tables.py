"""What a scan found, as tables."""

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from vlmrec.errors import InputError
from vlmrec.projections.core import Projected
from vlmrec.projections.findings import KINDS, Finding, chosen_kinds
from vlmrec.projections.propagation import After
from vlmrec.projections.scan import Scan
from vlmrec.report.names import run_names
from vlmrec.report.table import Table, percent


def only_kinds(projected: Projected[Scan, None], names: Sequence[str]) -> Projected[Scan, None]:
    """The scan with findings of these kinds alone; as it is, for none.

    Raises InputError where none of them could be looked for, and labels or another run would make it possible.
    """
    kinds, scan = chosen_kinds(names), projected.result
    missing = tuple(one for one in scan.not_looked if one.kind in kinds)
    if names and {one.kind for one in missing if one.wants is not None} == set(kinds):
        raise InputError("; ".join(f"--only {one.kind}: not looked for: {one.why}" for one in missing))
    return replace(
        projected,
        result=replace(
            scan,
            findings=tuple(finding for finding in scan.findings if finding.kind in kinds),
            counts={kind: count for kind, count in scan.counts.items() if kind in kinds},
            order=scan.order if "order" in kinds else (),
            propagation=scan.propagation if "propagation" in kinds else (),
            provider=scan.provider if "provider" in kinds else (),
            format=scan.format if "format" in kinds else (),
            not_looked=missing,
        ),
    )


def scan_tables(projected: Projected[Scan, None], only: Sequence[str] = ()) -> list[Table]:
    """Counts by kind, every finding, and the figures of order, propagation, provider and format.

    ``only``: the kinds that were asked for, where not all were.
    """
    looked_for = set(chosen_kinds(only)) - {one.kind for one in projected.result.not_looked}
    names = run_names(projected.provenance)
    scan = projected.result
    tables = [
        _counts(scan, names, looked_for),
        _findings(scan, names),
        _order(scan, names),
        _propagation(scan, names),
        _provider(scan, names),
        _format(scan, names),
    ]
    return [tables[0], *(table for table in tables[1:] if table.rows)]


def _counts(scan: Scan, names: Sequence[str], looked_for: Collection[str]) -> Table:
    kinds = [kind for kind in KINDS if kind in scan.counts]
    rows = [(name, scan.turns[i], *(scan.counts[kind][i] for kind in kinds)) for i, name in enumerate(names)]
    notes = ["nothing found"] if looked_for and not kinds else []
    notes += [f"{one.kind} not looked for: {one.why}" for one in scan.not_looked]
    notes += [
        f"{name} is noted as not to be counted ({reason}); it is scanned all the same"
        for name, reason in zip(names, scan.excluded, strict=True)
        if reason is not None
    ]
    return Table("Findings", ("run", "turns looked at", *kinds), rows, notes)


def _findings(scan: Scan, names: Sequence[str]) -> Table:
    rows = [
        (names[f.run], f.clip, f"{f.question_id}/{f.party}", f.kind, f.rule, f.message, _words(f))
        for f in scan.findings
    ]
    return Table("Every finding", ("run", "clip", "turn", "kind", "rule", "what", "in its words"), rows)


def _words(finding: Finding) -> str:
    own = " → ".join(f"“{words}”" for words in finding.words)
    other = finding.against
    there = f"against {other.question_id}/{other.party}: “{other.words}”" if other is not None else ""
    return "; ".join(part for part in (own, there) if part)


def _order(scan: Scan, names: Sequence[str]) -> Table:
    rows = [
        (
            f"{names[e.a]}, {names[e.b]}",
            e.turns,
            e.changed,
            percent(e.changed_share),
            e.same_place,
            percent(e.first_a),
            percent(e.first_b),
            percent(e.first_expected),
        )
        for e in scan.order
    ]
    columns = (
        "runs",
        "turns",
        "changed",
        "share",
        "kept the place",
        "first option, first run",
        "second run",
        "by chance",
    )
    return Table("Order of options", columns, rows)


def _propagation(scan: Scan, names: Sequence[str]) -> Table:
    def row(name: str, what: str, after: After) -> tuple[object, ...]:
        found = after.accuracy
        between = "-" if found.low is None or found.high is None else f"{100 * found.low:.0f} to {100 * found.high:.0f}"
        return name, what, after.items, percent(found.estimate), between

    rows = [
        row(names[one.run], what, after)
        for one in scan.propagation
        for what, after in (
            ("later turns, all before right", one.after_right),
            ("later turns, one before wrong", one.after_wrong),
            ("table right", one.table_right),
            ("table wrong", one.table_wrong),
        )
        if after.items
    ]
    notes = ["hard clips are hard throughout: a gap is a hint, and oracle substitution (--stage0-from) the test"]
    return Table("Propagation", ("run", "circumstance", "items", "right", "95 %"), rows, notes)


def _provider(scan: Scan, names: Sequence[str]) -> Table:
    rows = [
        (
            name,
            one.calls,
            one.compared,
            "-" if one.ratio_median is None else f"{one.ratio_median:.2f}",
            one.too_few,
            one.too_many,
            one.media_unseen,
        )
        for name, one in zip(names, scan.provider, strict=False)
        if one.calls
    ]
    columns = (
        "run",
        "calls",
        "with prediction and count",
        "counted / predicted",
        "too few",
        "too many",
        "media unseen",
    )
    return Table("Prompt tokens", columns, rows)


def _format(scan: Scan, names: Sequence[str]) -> Table:
    rows = [
        (
            name,
            one.monitored,
            one.strict,
            one.loose,
            one.unreadable,
            ", ".join(f"{reason} {count}" for reason, count in one.reasons.items()) or "-",
            one.compared,
            one.same_answer,
        )
        for name, one in zip(names, scan.format, strict=False)
        if one.monitored
    ]
    columns = (
        "run",
        "monitored",
        "strict",
        "loose",
        "unreadable",
        "why",
        "answers beside constrained ones",
        "the same",
    )
    return Table("Replies without the forced format", columns, rows)
