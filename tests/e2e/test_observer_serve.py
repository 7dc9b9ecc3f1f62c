"""The observer as a process of its own, spoken to over loopback."""

import re
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest


@pytest.fixture
def observer_url() -> Iterator[str]:
    program = "from vlmrec.commands.observer import command; command()"
    command = [sys.executable, "-c", program, "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            line = server.stderr.readline()
            found = re.search(r"http://\S+", line)
            assert found, line
            yield found.group()
        finally:
            server.terminate()


def test_observer_serve_names_its_address_and_answers(observer_url: str) -> None:
    with httpx.Client(base_url=observer_url, trust_env=False) as client:
        assert client.get("/health").status_code == 200
        body = {"model": "observer/classical", "messages": [{"role": "user", "content": "What do you see?"}]}
        reply = client.post("/v1/chat/completions", json=body).json()
    assert '"status": "unknown"' in reply["choices"][0]["message"]["content"]


def test_observer_serve_says_when_the_port_is_taken(observer_url: str) -> None:
    port = observer_url.rsplit(":", 1)[1]
    program = (
        "from vlmrec.commands.observer import command\n"
        "from vlmrec.errors import InputError\n"
        "try:\n"
        f"    command(['serve', '--port', '{port}'], standalone_mode=False)\n"
        "except InputError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert "choose another --port" in done.stdout
