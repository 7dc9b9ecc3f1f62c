"""Does a server keep the protocol? Every law over many answer sets, and for a broken one the smallest that shows it.

Cases are drawn from a seed, so that a finding can be repeated. A case that breaks a law is shrunk by leaving
out whatever it can do without, then by making answers abstentions where the law still breaks.
"""

import asyncio
import random
from typing import NamedTuple

import httpx
import msgspec
from msgspec import Struct

from vlmrec.engine.laws import LAWS
from vlmrec.engine.probing import HttpProbe, cases_for, shrunk, verdict
from vlmrec.engine.refusals import MALFORMED, malformed_bodies
from vlmrec.errors import InputError, ServiceError
from vlmrec.ledger import Ledger, LedgerError, decode_ledger
from vlmrec.protocol import Refused, Version
from vlmrec.terms import Answer, QuestionRef


class BrokenLaw(Struct, frozen=True, kw_only=True):
    """A law that did not hold, what was found, and the smallest request that shows it."""

    law: str
    sentence: str
    found: str
    answers: tuple[Answer, ...] = ()
    skip: tuple[QuestionRef, ...] = ()
    request: str | None = None


class CheckReport(Struct, frozen=True, kw_only=True):
    """What a check tried and found."""

    engine_version: str | None
    data_version: str | None
    cases: int
    laws: tuple[str, ...]
    broken: tuple[BrokenLaw, ...]


async def check_server(http: httpx.AsyncClient, *, cases: int = 60, seed: int = 0) -> CheckReport:
    """Check the server behind ``http``. Raises ServiceError where there is nothing to check."""
    version, ledger, broken = await _introduce(http)
    if ledger is None:
        return _report(version, ledger, 0, broken)
    probe = HttpProbe(http, ledger)
    broken += await _check_refusals(probe)
    draw = random.Random(seed)  # reproducible cases are the point; nothing here is secret
    tried = 0
    open_laws = {law.name: law for law in LAWS}
    async for case in cases_for(probe, draw, cases):
        tried += 1
        for law in list(open_laws.values()):
            found = await verdict(probe, law.broken_by, case)
            if found is None:
                continue
            smallest = await shrunk(probe, law.broken_by, case)
            found = await verdict(probe, law.broken_by, smallest) or found
            broken.append(
                BrokenLaw(
                    law=law.name, sentence=law.sentence, found=found, answers=smallest.answers, skip=smallest.skip
                )
            )
            del open_laws[law.name]
    if probe.other_versions:
        versions = ", ".join(sorted(probe.other_versions))
        sentence = "Every reply carries one data_version."
        found = f"{ledger.data_version} in /meta, and elsewhere {versions}"
        broken.append(BrokenLaw(law="data_version", sentence=sentence, found=found))
    return _report(version, ledger, tried, broken)


def check_url(url: str, *, cases: int, seed: int, timeout_s: float = 30.0) -> CheckReport:
    """Check the server at a URL, over the network."""
    if not url.startswith(("http://", "https://")):
        raise InputError(f"{url} is no address of a server: give one that begins with http:// or https://")

    async def check() -> CheckReport:
        async with httpx.AsyncClient(base_url=url, timeout=timeout_s) as http:
            return await check_server(http, cases=cases, seed=seed)

    return asyncio.run(check())


class _Introduction(NamedTuple):
    version: Version | None
    ledger: Ledger | None
    broken: list[BrokenLaw]


async def _introduce(http: httpx.AsyncClient) -> _Introduction:
    bodies: dict[str, bytes] = {}
    for path in ("/version", "/meta", "/questions"):
        try:
            response = await http.get(path)
        except httpx.TransportError as error:
            raise ServiceError(f"no server answers at {http.base_url}: {type(error).__name__} {error}") from error
        if response.status_code != 200:
            found = f"GET {path} gave {response.status_code}"
            return _Introduction(None, None, [_introduction_broken(found)])
        bodies[path] = response.content
    try:
        version = msgspec.json.decode(bodies["/version"], type=Version)
        ledger = decode_ledger(bodies["/meta"], bodies["/questions"])
    except (msgspec.MsgspecError, LedgerError) as error:
        return _Introduction(None, None, [_introduction_broken(str(error))])
    if version.data_version != ledger.data_version:
        found = f"/version says {version.data_version}, /meta says {ledger.data_version}"
        return _Introduction(version, ledger, [_introduction_broken(found)])
    return _Introduction(version, ledger, [])


def _introduction_broken(found: str) -> BrokenLaw:
    return BrokenLaw(law="ledger", sentence="/version, /meta and /questions are of one piece.", found=found)


async def _check_refusals(probe: HttpProbe) -> list[BrokenLaw]:
    broken = []
    for kind, body, named in malformed_bodies(probe.ledger):
        response = await probe.post(body)
        found = None
        if response.status_code != 422:
            found = f"gave {response.status_code} instead of 422"
        elif named is not None:
            try:
                said = msgspec.json.decode(response.content, type=Refused).error
                if (said.question_id, said.party) != named:
                    found = f"names {said.question_id}/{said.party} instead of {named.question_id}/{named.party}"
            except msgspec.MsgspecError as error:
                found = f"the 422 does not say what is wrong: {error}"
        if found is not None:
            broken.append(
                BrokenLaw(law=f"refuses_{kind}", sentence=MALFORMED[kind], found=found, request=body.decode())
            )
    return broken


def _report(version: Version | None, ledger: Ledger | None, cases: int, broken: list[BrokenLaw]) -> CheckReport:
    names = ("ledger", "data_version", *(f"refuses_{kind}" for kind in MALFORMED), *(law.name for law in LAWS))
    return CheckReport(
        engine_version=None if version is None else version.engine_version,
        data_version=None if ledger is None else ledger.data_version,
        cases=cases,
        laws=names,
        broken=tuple(broken),
    )
