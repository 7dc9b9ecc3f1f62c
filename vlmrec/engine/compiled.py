"""Charts and ledger turned into tables that an evaluation can look things up in.

Every possible answer is an *atom*, one bit of an integer, so that a set of answers is one integer (a
*state*). A *position* is a chart in one variant under one assignment of A and B to the two vehicles;
what it makes of a state depends only on the atoms of its own questions, which is what gets remembered.
"""

from collections.abc import Iterable
from typing import NamedTuple

from vlmrec.engine.charts import Chapter, Chart, Condition, Gate, Row, Variant
from vlmrec.ledger import Ledger
from vlmrec.protocol import Fact
from vlmrec.question import clause_parties
from vlmrec.terms import ABSTENTIONS, Party, Status, TurnKey

AtomKey = tuple[str, str, str, str | None]


class Need(NamedTuple):
    """A question whose answer must be among ``expects``; ``yes`` and ``no`` are the atoms that meet and break it.

    ``facts`` has what to say of it for each of its question's atoms, and for none (0).
    """

    key: TurnKey
    expects: tuple[str, ...]
    yes: int
    no: int
    atoms: int
    facts: dict[int, Fact]


class CompiledRow(NamedTuple):
    """A modifier row with its alternatives as needs."""

    row: Row
    party: Party
    when: tuple[tuple[Need, ...], ...]
    hints: int

    def holds(self, state: int) -> bool:
        if not state & self.hints:  # most rows, most of the time
            return False
        return any(all(state & need.yes for need in alternative) for alternative in self.when)


class Position(NamedTuple):
    """A chart, variant and assignment.

    ``needs`` are required; ``barriers`` are all that can rule it out: the needs, and gates that need no
    answer. Both in ledger order. ``breaking`` are the atoms that rule it out, ``atoms`` all those that the
    account of a standing position depends on.
    """

    number: int
    chart: Chart
    variant: Variant | None
    self_is: str
    needs: tuple[Need, ...]
    barriers: tuple[Need, ...]
    rows: tuple[CompiledRow, ...]
    breaking: int
    atoms: int

    @property
    def base_a(self) -> int:
        return self.chart.base_a if self.variant is None else self.variant.base_a


class GateNeed(NamedTuple):
    """A gate as asked, and for each party that its question may be put for the atoms that lead out."""

    key: TurnKey
    out: tuple[Need, ...]


class CompiledClause(NamedTuple):
    """A clause of a precondition: any atom of ``yes`` makes it true; one of each of ``no`` makes it false."""

    yes: int
    no: tuple[int, ...]


class Tables(NamedTuple):
    """Everything precomputed for one ledger and chapter."""

    ledger: Ledger
    atoms: dict[AtomKey, tuple[int, int]]
    key_atoms: dict[TurnKey, int]
    key_bit: dict[TurnKey, int]
    values: tuple[tuple[TurnKey, Status, str | None], ...]
    positions: tuple[Position, ...]
    gates: tuple[GateNeed, ...]
    observable: frozenset[TurnKey]
    clauses: dict[TurnKey, tuple[CompiledClause, ...]]
    breaking: int
    survivors: dict[TurnKey, tuple[int, ...]]

    def precondition(self, key: TurnKey, state: int) -> bool | None:
        """The same three values as ``vlmrec.question.precondition``, read off the state."""
        clauses = self.clauses[key]
        if not clauses:
            return True
        verdict: bool | None = False
        for clause in clauses:
            if state & clause.yes:
                return True
            if not all(state & no for no in clause.no):
                verdict = None
        return verdict

    def answer(self, key: TurnKey, state: int) -> tuple[Status | None, str | None]:
        """Status and value that the state holds for a question; nothing while it is unanswered."""
        atom = state & self.key_atoms[key]
        if not atom:
            return None, None
        _, status, value = self.values[atom.bit_length() - 1]
        return status, value


def compile_tables(ledger: Ledger, chapter: Chapter) -> Tables:
    """The tables of a chapter over a ledger. Raises ValueError where the data contradict each other."""
    maker = _Maker(ledger, chapter)
    sides = [
        (chart, self_is, variant)
        for chart in chapter.charts
        for self_is in ("A", "B")
        for variant in (chart.variants or (None,))
    ]
    positions = tuple(maker.position(number, *side) for number, side in enumerate(sides))
    return Tables(
        ledger=ledger,
        atoms=maker.atoms,
        key_atoms=maker.key_atoms,
        key_bit=maker.key_bit,
        values=tuple(maker.values),
        positions=positions,
        gates=tuple(GateNeed(TurnKey(gate.question, Party(gate.party)), maker.vetoes(gate)) for gate in chapter.gates),
        observable=frozenset(key for key in ledger.turns if ledger.question(key.question_id).observable),
        clauses={key: maker.clauses(key) for key in ledger.turns},
        breaking=_all_breaking(positions),
        survivors={
            key: _survivors(key, ledger, positions)
            for key in ledger.turns
            if any(barrier.key == key for position in positions for barrier in position.barriers)
        },
    )


def bind(condition: Condition, self_is: str, ledger: Ledger) -> tuple[TurnKey, tuple[str, ...]]:
    """A condition on a role as the question and values that it means when the recording vehicle is ``self_is``."""
    vehicle = Party.SELF if condition.role == self_is else Party.OTHER
    party = Party.NONE if condition.role == "none" else vehicle
    question = ledger.question(condition.question)
    if party not in question.parties:
        raise ValueError(f"{condition.question} is not put for {party}")
    values = condition.values if self_is == "A" else tuple(question.flipped(value) for value in condition.values)
    return TurnKey(condition.question, party), values


class _Maker:
    """Numbers the atoms of a ledger, and makes needs out of them."""

    def __init__(self, ledger: Ledger, chapter: Chapter) -> None:
        self.ledger = ledger
        self.chapter = chapter
        self.atoms: dict[AtomKey, tuple[int, int]] = {}
        self.key_atoms: dict[TurnKey, int] = {}
        self.key_bit: dict[TurnKey, int] = {}
        self.values: list[tuple[TurnKey, Status, str | None]] = []
        self._needs: dict[tuple[TurnKey, tuple[str, ...]], Need] = {}
        for number, key in enumerate(ledger.turns):
            self.key_bit[key] = 1 << number
            self.key_atoms[key] = 0
            observed = [(Status.OBSERVED, code) for code in ledger.question(key.question_id).codes]
            for status, value in (*observed, *((status, None) for status in sorted(ABSTENTIONS))):
                bit = 1 << len(self.values)
                self.atoms[(key.question_id, key.party, status, value)] = (bit, self.key_bit[key])
                self.key_atoms[key] |= bit
                self.values.append((key, status, value))

    def need(self, key: TurnKey, expects: Iterable[str]) -> Need:
        codes = self.ledger.question(key.question_id).codes
        wanted = set(expects)
        if not wanted or wanted - set(codes):
            raise ValueError(
                f"{key.question_id} for {key.party} can't be any of {sorted(wanted)}: it has {list(codes)}"
            )
        bits = {code: self.atoms[(key.question_id, key.party, Status.OBSERVED, code)][0] for code in codes}
        yes = sum(bit for code, bit in bits.items() if code in wanted)
        return self._interned(
            Need(
                key=key,
                expects=tuple(code for code in codes if code in wanted),
                yes=yes,
                no=sum(bits.values()) - yes,
                atoms=self.key_atoms[key],
                facts={},
            )
        )

    def _interned(self, need: Need) -> Need:
        known = self._needs.setdefault((need.key, need.expects), need)
        if known is need:
            name, party, expects = need.key.question_id, need.key.party, need.expects
            need.facts[0] = Fact(question_id=name, party=party, expects=expects)
            for number, (key, status, value) in enumerate(self.values):
                if key == need.key:
                    fact = Fact(question_id=name, party=party, expects=expects, status=status, value=value)
                    need.facts[1 << number] = fact
        return known

    def vetoes(self, gate: Gate) -> tuple[Need, ...]:
        parties = self.ledger.question(gate.question).parties
        return tuple(self.need(TurnKey(gate.question, party), gate.in_scope) for party in parties)

    def clauses(self, key: TurnKey) -> tuple[CompiledClause, ...]:
        made = []
        for clause in self.ledger.question(key.question_id).any_of:
            read = [
                self.need(TurnKey(clause.question, party), clause.values) for party in clause_parties(clause, key.party)
            ]
            made.append(CompiledClause(sum(need.yes for need in read), tuple(need.no for need in read)))
        return tuple(made)

    def position(self, number: int, chart: Chart, self_is: str, variant: Variant | None) -> Position:
        conditions = chart.where + (() if variant is None else variant.where)
        bound = [bind(condition, self_is, self.ledger) for condition in conditions]
        required = [gate for gate in self.chapter.gates if gate.required]
        bound += [(TurnKey(gate.question, Party(gate.party)), gate.in_scope) for gate in required]
        wanted: dict[TurnKey, set[str]] = {}
        for key, expects in bound:
            wanted[key] = wanted.get(key, set(expects)) & set(expects)
        needs = tuple(self.need(key, wanted[key]) for key in sorted(wanted, key=self.ledger.order))
        vetoes = tuple(veto for gate in self.chapter.gates if not gate.required for veto in self.vetoes(gate))
        rows = tuple(self._row(row, self_is) for row in chart.rows)
        parts = (part for row in rows for alternative in row.when for part in alternative)
        atoms = sum(self.key_atoms[key] for key in {need.key for need in (*needs, *parts)})
        barriers = tuple(sorted((*needs, *vetoes), key=lambda need: self.ledger.order(need.key)))
        breaking = 0
        for barrier in barriers:
            breaking |= barrier.no
        return Position(number, chart, variant, self_is, needs, barriers, rows, breaking, atoms)

    def _row(self, row: Row, self_is: str) -> CompiledRow:
        when = tuple(
            tuple(self.need(*bind(condition, self_is, self.ledger)) for condition in alternative)
            for alternative in row.when
        )
        hints = 0
        for need in (need for alternative in when for need in alternative):
            hints |= need.yes
        return CompiledRow(row, Party.SELF if row.role == self_is else Party.OTHER, when, hints)


def _all_breaking(positions: tuple[Position, ...]) -> int:
    atoms = 0
    for position in positions:
        atoms |= position.breaking
    return atoms


def _survivors(key: TurnKey, ledger: Ledger, positions: tuple[Position, ...]) -> tuple[int, ...]:
    """For each value of a question's domain, the positions that it leaves standing, as a bit mask."""
    masks = []
    for code in ledger.question(key.question_id).codes:
        mask = 0
        for position in positions:
            if all(code in need.expects for need in position.barriers if need.key == key):
                mask |= 1 << position.number
        masks.append(mask)
    return tuple(masks)
