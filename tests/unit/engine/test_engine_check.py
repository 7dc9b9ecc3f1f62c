"""The conformance check passes on our own engine and names the law that a broken server breaks."""

import httpx
import msgspec
import pytest
from engine_faults import FAULTS, broken_ledger_app, drifting_app, faulty_app, lenient_app, remembering_app
from starlette.applications import Starlette

from vlmrec.engine.check import CheckReport, check_server
from vlmrec.engine.listing import check_lines
from vlmrec.engine.reference import versions
from vlmrec.engine.server import create_app
from vlmrec.errors import ServiceError


async def check(app: Starlette, cases: int = 6) -> CheckReport:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://engine") as http:
        return await check_server(http, cases=cases, seed=1)


@pytest.mark.parametrize("version", versions())
async def test_check_passes_on_our_own_engine(version: str) -> None:
    report = await check(create_app(version))
    assert report.broken == ()
    assert report.cases > 6
    assert all(line.strip().startswith("holds") for line in list(check_lines(report))[1:])


@pytest.mark.parametrize("name", FAULTS)
async def test_check_names_the_law_that_a_faulty_server_breaks(name: str) -> None:
    law, fault = FAULTS[name]
    report = await check(faulty_app("0.1.3", fault))
    broken = {each.law: each for each in report.broken}
    assert law in broken
    assert len(broken[law].answers) + len(broken[law].skip) <= 5


async def test_a_faulty_server_breaks_the_shrunk_request_too() -> None:
    law, fault = FAULTS["abstention eliminates"]
    report = await check(faulty_app("0.1.3", fault))
    [found] = [each for each in report.broken if each.law == law]
    assert len(found.answers) == 1
    assert "unknown eliminated" in found.found


async def test_check_names_what_a_lenient_server_takes() -> None:
    broken = {each.law: each for each in (await check(lenient_app("0.1.3"))).broken}
    assert {"refuses_unknown_question", "refuses_value_outside_domain", "refuses_answered_twice"} <= set(broken)
    assert msgspec.json.decode(broken["refuses_missing_value"].request or "")["answers"][0]["value"] is None


async def test_check_sees_a_data_version_that_drifts() -> None:
    broken = [each for each in (await check(drifting_app("0.1.3"))).broken if each.law == "data_version"]
    assert next(each.found for each in broken).endswith("0.0.0+changed")


async def test_check_sees_a_server_that_remembers() -> None:
    assert "stateless" in {each.law for each in (await check(remembering_app("0.1.3"))).broken}


async def test_check_stops_at_a_ledger_that_contradicts_itself() -> None:
    report = await check(broken_ledger_app("0.1.3"))
    assert [(each.law, "q_no_such_gate" in each.found) for each in report.broken] == [("ledger", True)]
    assert "not tried stateless" in "\n".join(check_lines(report))


async def test_check_says_when_there_is_no_server() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    async with httpx.AsyncClient(transport=httpx.MockTransport(refuse), base_url="http://engine") as http:
        with pytest.raises(ServiceError, match="no server answers at http://engine"):
            await check_server(http)


async def test_check_says_when_something_else_answers() -> None:
    async with httpx.AsyncClient(
        transport=httpx.MockTransport(lambda request: httpx.Response(404)), base_url="http://engine"
    ) as http:
        [broken] = (await check_server(http)).broken
    assert broken.found == "GET /version gave 404"
