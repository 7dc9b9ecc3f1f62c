"""The shape of chart data: what a fault-ratio chart needs to be seen, its base ratio and its modifier rows.

A chart speaks of two fixed roles, A and B; which of them recorded the video is left open. Conditions
are conjunctions of "this question, for this role, has one of these values". Values of relations are
written as they read when A is the recording vehicle.
"""

from typing import Literal

from msgspec import Struct

Role = Literal["A", "B", "none"]


class Condition(Struct, frozen=True, kw_only=True):
    """One question must have one of ``values`` for the vehicle in ``role``."""

    question: str
    role: Role
    values: tuple[str, ...]


class Row(Struct, frozen=True, kw_only=True):
    """A modifier row: ``delta`` points on ``role`` when any of the conjunctions in ``when`` holds.

    ``ask`` is false for rows that the standard wants proved by other means than the video.
    """

    code: str
    label_ko: str
    label_en: str
    role: Literal["A", "B"]
    delta: int
    when: tuple[tuple[Condition, ...], ...]
    ask: bool = True

    @property
    def name(self) -> str:
        return f"{self.role}.{self.code}"


class Variant(Struct, frozen=True, kw_only=True):
    """One of a chart's alternatives, with a base share of its own."""

    key: str
    label_en: str
    base_a: int
    where: tuple[Condition, ...]


class RowRules(Struct, frozen=True, kw_only=True):
    """Which rows don't add up: names are ``role.code``.

    ``exclusive``: of a group only the largest counts. ``exclusive_sets``: one set or the other, the first
    that has an observed row. ``gate``: additions on that role count only once it has dropped below 100.
    """

    exclusive: tuple[tuple[str, ...], ...] = ()
    exclusive_sets: tuple[tuple[tuple[str, ...], ...], ...] = ()
    gate: Literal["A", "B"] | None = None


class Source(Struct, frozen=True, kw_only=True):
    """Where the figures can be looked up."""

    url: str
    book_page: int
    legacy_numbers: tuple[str, ...] = ()


class Chart(Struct, frozen=True, kw_only=True):
    """One chart. ``base_a`` is A's share in percent where there are no variants; B has the rest."""

    id: str
    title_ko: str
    title_en: str
    group_ko: str
    base_a: int
    where: tuple[Condition, ...]
    rows: tuple[Row, ...]
    source: Source
    variants: tuple[Variant, ...] = ()
    rules: RowRules = RowRules()
    readings: tuple[str, ...] = ()


class Gate(Struct, frozen=True, kw_only=True):
    """A question that decides whether the chapter applies at all.

    Any answer outside ``in_scope``, for whichever party, ends the case. ``required`` gates must be
    answered before a chart can be confirmed.
    """

    question: str
    party: Literal["self", "other", "none"]
    in_scope: tuple[str, ...]
    required: bool = True


class Chapter(Struct, frozen=True, kw_only=True):
    """The charts of one section of the standard, and the gates that lead out of it."""

    section: str
    gates: tuple[Gate, ...]
    charts: tuple[Chart, ...]
