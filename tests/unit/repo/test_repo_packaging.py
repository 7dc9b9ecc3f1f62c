"""The repository's own promises: what is packaged, what is locked, and what no tracked file may say."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_packages_named_are_the_packages_there_are() -> None:
    found = []
    for folder, prefix in (("vlmrec", ""), ("commands", "vlmrec."), ("schemas", "vlmrec.")):
        for init in (ROOT / folder).rglob("__init__.py"):  # does not follow the two links
            found.append(prefix + ".".join(init.parent.relative_to(ROOT).parts))
    named = PROJECT["tool"]["setuptools"]["packages"]
    assert sorted(named) == sorted(found), "fix [tool.setuptools] packages in pyproject.toml"


def test_every_data_file_in_a_package_is_declared_as_package_data() -> None:
    declared = PROJECT["tool"]["setuptools"]["package-data"]
    missing = []
    for package in PROJECT["tool"]["setuptools"]["packages"]:
        folder = ROOT / PROJECT["tool"]["setuptools"]["package-dir"].get(package, package.replace(".", "/"))
        covered = {path for pattern in declared.get(package, ()) for path in folder.glob(pattern)}
        for path in tracked_under(folder):
            owner = path.parent
            while not (owner / "__init__.py").exists():
                owner = owner.parent
            if owner == folder and path.suffix != ".py" and path not in covered:
                missing.append(str(path.relative_to(ROOT)))
    assert not missing, "the wheel would lack these: add them to [tool.setuptools.package-data]"


def test_the_two_links_point_at_the_folders_they_stand_for() -> None:
    assert (ROOT / "vlmrec/commands").resolve() == ROOT / "commands"
    assert (ROOT / "vlmrec/schemas").resolve() == ROOT / "schemas"


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_requirement_is_locked_by_hash_and_names_no_index(name: str) -> None:
    text = (ROOT / name).read_text()
    assert "://" not in text
    assert "--index-url" not in text
    entries = re.split(r"\n(?=[a-z0-9])", re.sub(r"(?m)^\s*#.*\n", "", text))
    assert all("==" in entry and "--hash=sha256:" in entry for entry in entries if entry.strip())


def test_the_locks_agree_and_cover_every_declared_dependency() -> None:
    runtime, dev = (pins(ROOT / name) for name in ("requirements.txt", "requirements-dev.txt"))
    assert runtime.items() <= dev.items(), "run `make lock`"
    assert {plain(text) for text in PROJECT["project"]["dependencies"]} <= runtime.keys(), "run `make lock`"
    assert {plain(text) for text in PROJECT["project"]["optional-dependencies"]["dev"]} <= dev.keys(), "run `make lock`"


FORBIDDEN = {
    "an absolute path of somebody's machine": re.compile(r"(?<![\w.])/(?:root|work)/[A-Za-z0-9]"),
    "a home folder": re.compile(r"(?<![\w.])/(?:home|Users)/[A-Za-z0-9]"),
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "an access key": re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b(?<!EXAMPLE)"),
    "an API key": re.compile(r"\b(?:sk|sk-or-v1|sk-ant|ghp|hf)[-_][A-Za-z0-9]{32,}"),
}


def test_no_tracked_file_holds_a_secret_or_a_machines_path() -> None:
    found = []
    for path in tracked_under(ROOT):
        body = path.read_bytes()
        if path == Path(__file__) or b"\0" in body[:4096]:
            continue
        text = body.decode("utf-8", errors="replace")
        for what, pattern in FORBIDDEN.items():
            if what == "a home folder" and "tests" in path.parts:
                continue  # settings files under test name made-up homes
            match = pattern.search(text)
            if match:
                found.append(f"{path.relative_to(ROOT)}: {what}: {match.group()[:40]}")
    assert not found


def tracked_under(folder: Path) -> list[Path]:
    try:
        listed = subprocess.run(["git", "ls-files", "-z", "."], cwd=folder, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git work tree")
    paths = [folder / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def pins(path: Path) -> dict[str, str]:
    found = re.findall(r"(?m)^([a-z0-9._-]+)(?:\[[^\]]*\])?==([^ ;\\]+)", path.read_text())
    return {name.replace("_", "-").lower(): version for name, version in found}


def plain(requirement: str) -> str:
    return re.split(r"[\[<>=!~; ]", requirement)[0].lower().replace("_", "-")
