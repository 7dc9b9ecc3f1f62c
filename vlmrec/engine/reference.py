"""The reference engine's data, by version: ledger, charts, and the version that names their content.

A version is a folder under ``data``: ``ledger.yaml`` (sections, gates are the chapter's, observation rules,
questions) and one ``<chapter>.yaml`` for each chapter of charts. Adding a version means adding a folder.
``data_version`` is the version and a hash of what the files say, so that a change of wording or of a
condition is another version, and a change of layout or comment is not.
"""

from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct

from vlmrec.canonical import canonical_json, sha256_hex
from vlmrec.engine.charts import Chapter, Chart, Condition, Gate, Row, RowRules, Source, Variant
from vlmrec.engine.compiled import Tables, compile_tables
from vlmrec.engine.core import Memory
from vlmrec.engine.datafile import read_data
from vlmrec.errors import InputError
from vlmrec.ledger import Ledger, Meta, ObservationRule, Section, checked_ledger
from vlmrec.question import Clause, Option, Question, Wording
from vlmrec.terms import Party, QuestionRef

DEFAULT_SECTION = "same_direction"


class Reference(Struct, frozen=True, kw_only=True, eq=False):
    """One version of the engine's data, ready to evaluate."""

    ledger: Ledger
    chapter: Chapter
    tables: Tables
    memory: Memory

    @property
    def data_version(self) -> str:
        return self.ledger.data_version

    @property
    def charts(self) -> tuple[Chart, ...]:
        return self.chapter.charts

    def chart(self, chart_id: str) -> Chart:
        """The chart of that id. Raises InputError for an unknown one."""
        for chart in self.chapter.charts:
            if chart.id == chart_id:
                return chart
        raise InputError(f"{self.data_version} has no chart {chart_id!r}")


def versions() -> tuple[str, ...]:
    """The embedded versions, oldest first."""
    found = [folder.name for folder in files("vlmrec.engine").joinpath("data").iterdir() if folder.is_dir()]
    return tuple(sorted((name for name in found if name[:1].isdigit()), key=_version_key))


@cache
def load_reference(version: str, section: str = DEFAULT_SECTION) -> Reference:
    """The embedded engine of that version. Raises InputError for a version or section that is not there."""
    if version not in versions():
        raise InputError(f"there is no embedded engine {version!r}; there are {', '.join(versions())}")
    folder = files("vlmrec.engine").joinpath("data", version)
    chapter_file = folder.joinpath(f"{section}.yaml")
    if not chapter_file.is_file():
        raise InputError(f"engine {version} has no charts of the section {section!r}")
    return build_reference(version, folder.joinpath("ledger.yaml").read_bytes(), chapter_file.read_bytes())


def build_reference(version: str, ledger_yaml: bytes, chapter_yaml: bytes) -> Reference:
    """A reference from the text of its two files. Raises InputError where they can't be read or don't fit."""
    ledger_data = read_data(ledger_yaml, _LedgerFile, f"the ledger of engine {version}")
    chapter_data = read_data(chapter_yaml, _ChapterFile, f"the chart file of engine {version}")
    try:
        chapter = _chapter(chapter_data)
        content = sha256_hex(canonical_json([ledger_data, chapter_data]))
        ledger = _ledger(version, f"{version}+{content[:12]}", ledger_data, chapter)
        tables = compile_tables(ledger, chapter)
    except (msgspec.MsgspecError, ValueError) as error:
        raise InputError(f"the data of engine {version} can't be used: {error}") from error
    return Reference(ledger=ledger, chapter=chapter, tables=tables, memory=Memory(len(tables.positions)))


class _Labelled(Struct, frozen=True, forbid_unknown_fields=True):
    code: str
    ko: str
    en: str


class _QuestionEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: str
    section: str
    subject: str
    time: str
    view: str
    by: str
    ko: str
    en: str
    domain: list[_Labelled]
    observable: bool = True
    notes_ko: list[str] = []
    notes_en: list[str] = []
    any_of: list[Clause] = []
    flip: dict[str, str] = {}


class _Name(Struct, frozen=True, forbid_unknown_fields=True):
    ko: str
    en: str


class _LedgerFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    vehicles: dict[str, _Name]
    sections: list[_Labelled]
    observation_rules: list[ObservationRule] = []
    questions: list[_QuestionEntry]


Where = dict[str, list[str]]


class _RowKind(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    ko: str
    en: str
    when: list[Where]
    ask: bool = True


class _RowEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    code: str
    role: str
    delta: int
    ko: str | None = None
    en: str | None = None
    when: list[Where] | None = None
    ask: bool | None = None


class _VariantEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    key: str
    en: str
    base_a: int
    where: Where


class _ChartEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: str
    ko: str
    en: str
    group: str
    base_a: int
    where: Where
    rows: list[_RowEntry]
    source: Source
    variants: list[_VariantEntry] = []
    rules: RowRules = RowRules()
    readings: list[str] = []


class _ChapterFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    section: str
    gates: list[Gate]
    rows: dict[str, _RowKind]
    charts: list[_ChartEntry]


def _ledger(version: str, data_version: str, data: _LedgerFile, chapter: Chapter) -> Ledger:
    return checked_ledger(
        Ledger(
            engine_version=version,
            data_version=data_version,
            questions=tuple(_question(entry, data.vehicles) for entry in data.questions),
            meta=Meta(
                engine_version=version,
                data_version=data_version,
                chapter=chapter.section,
                sections=tuple(Section(id=each.code, title_ko=each.ko, title_en=each.en) for each in data.sections),
                gates=tuple(QuestionRef(question_id=gate.question, party=Party(gate.party)) for gate in chapter.gates),
                observation_rules=tuple(data.observation_rules),
            ),
        )
    )


def _question(entry: _QuestionEntry, vehicles: dict[str, _Name]) -> Question:
    parties = ("self", "other") if entry.subject == "party" else ("none",)

    def wording(text: str, language: str) -> Wording:
        forms = {}
        for party in parties:
            rival = "other" if party == "self" else "self"
            names = {
                name: getattr(vehicles[whose], language)
                for name, whose in (("car", party), ("rival", rival))
                if whose in vehicles
            }
            forms[party] = text.format_map(names)
        return msgspec.convert({party: form[:1].upper() + form[1:] for party, form in forms.items()}, Wording)

    return msgspec.convert(
        {
            "id": entry.id,
            "section": entry.section,
            "subject": entry.subject,
            "parties": list(parties),
            "time_scope": entry.time,
            "viewpoint": entry.view,
            "modality": entry.by,
            "observable": entry.observable,
            "text_ko": wording(entry.ko, "ko"),
            "text_en": wording(entry.en, "en"),
            "domain": [Option(code=each.code, label_ko=each.ko, label_en=each.en) for each in entry.domain],
            "notes_ko": entry.notes_ko,
            "notes_en": entry.notes_en,
            "any_of": entry.any_of,
            "flip": entry.flip,
        },
        Question,
    )


def _chapter(data: _ChapterFile) -> Chapter:
    return Chapter(
        section=data.section,
        gates=tuple(data.gates),
        charts=tuple(_chart(entry, data.rows) for entry in data.charts),
    )


def _chart(entry: _ChartEntry, kinds: dict[str, _RowKind]) -> Chart:
    return Chart(
        id=entry.id,
        title_ko=entry.ko,
        title_en=entry.en,
        group_ko=entry.group,
        base_a=entry.base_a,
        where=_conditions(entry.where),
        rows=tuple(_row(row, kinds) for row in entry.rows),
        source=entry.source,
        variants=tuple(
            Variant(key=each.key, label_en=each.en, base_a=each.base_a, where=_conditions(each.where))
            for each in entry.variants
        ),
        rules=entry.rules,
        readings=tuple(entry.readings),
    )


def _row(entry: _RowEntry, kinds: dict[str, _RowKind]) -> Row:
    """A chart's row; what it leaves out comes from the catalogue of rows, where P stands for the row's own role."""
    kind = kinds.get(entry.code)
    when = entry.when if entry.when is not None else None if kind is None else kind.when
    ko = entry.ko or (kind.ko if kind else None)
    en = entry.en or (kind.en if kind else None)
    if when is None or ko is None or en is None:
        raise ValueError(f"the row {entry.code} is neither described where it stands nor in the catalogue of rows")
    return msgspec.convert(
        {
            "code": entry.code,
            "label_ko": ko,
            "label_en": en,
            "role": entry.role,
            "delta": entry.delta,
            "when": tuple(_conditions(each, own=entry.role) for each in when),
            "ask": entry.ask if entry.ask is not None else kind.ask if kind else True,
        },
        Row,
    )


def _conditions(where: Where, own: str | None = None) -> tuple[Condition, ...]:
    """``question/role: [values]`` as conditions; no role means that the question has no party."""
    found = []
    for name, values in where.items():
        question, _, role = name.partition("/")
        if role == "P" and own is not None:
            role = own
        entry = {"question": question, "role": role or "none", "values": values}
        found.append(msgspec.convert(entry, Condition))
    return tuple(found)


def _version_key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
