"""Settings, presets, keys; what a provider is sent; which server a clip goes to."""

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from vlmrec.commands.models import command as models_command
from vlmrec.config import list_models, load_config, parse_config, parse_dotenv
from vlmrec.errors import InputError
from vlmrec.models.adapters import THINK_BLOCK, adapt_system, adapt_tail, box_of, seconds_of, to_thousandths
from vlmrec.models.endpoint import pick_server, proxy_for
from vlmrec.models.presets import PRESETS
from vlmrec.models.structured import accepted_fields, grammar_schema, schema_fields
from vlmrec.models.urls import public_url

LAB = """
[providers.lab]
preset = "vllm"
base_urls = ["http://gpu1:8000/v1", "http://gpu2:8000/v1"]
gpu_hour = "2.50"
gpus = 2

[providers.other]
base_url = "http://user:hunter22@host/v1?x=1"
key_env = "OTHER_KEY"
accepts = ["temperature"]

[models."openrouter/qwen/plus"]
price = { prompt = "0.40", completion = 2.4 }
context = 131072

[models."lab/cosmos"]
name = "nvidia/Cosmos-Reason2-8B"
family = "cosmos"
thinking = true
"""


def config(text: str = LAB, **environ: str) -> Any:
    return parse_config(text, source="vlmrec.toml", environ=environ)


# ---- settings --------------------------------------------------------------------------------


def test_presets_need_no_file() -> None:
    resolved = config("", OPENROUTER_API_KEY="sk-or-1").resolve("openrouter/qwen/plus")
    assert resolved.wire_name == "qwen/plus"
    assert resolved.key == "sk-or-1"
    assert resolved.missing == ()
    assert resolved.price is None


def test_a_missing_key_says_where_to_put_it() -> None:
    assert "OPENROUTER_API_KEY" in config("").resolve("openrouter/a/b").missing[0]
    assert config("").resolve("vllm/any").missing == ()


def test_a_preset_can_be_placed_elsewhere_and_keeps_the_rest() -> None:
    lab = config().resolve("lab/cosmos")
    assert lab.provider.base_urls == ("http://gpu1:8000/v1", "http://gpu2:8000/v1")
    assert lab.provider.default_fps == PRESETS["vllm"].default_fps
    assert lab.wire_name == "nvidia/Cosmos-Reason2-8B"
    assert lab.settings.family == "cosmos"
    assert lab.hourly == Decimal("5.00")


def test_a_built_in_provider_can_be_changed_in_one_field() -> None:
    changed = config("[providers.openrouter]\nstream = true").providers["openrouter"]
    assert changed.stream
    assert changed.base_urls == PRESETS["openrouter"].base_urls
    assert changed.extra == PRESETS["openrouter"].extra


def test_prices_are_decimals_without_a_detour_through_floats() -> None:
    price = config().resolve("openrouter/qwen/plus").price
    assert (price.prompt, price.completion) == (Decimal("0.40"), Decimal("2.4"))


def test_any_address_can_be_given_beside_a_name() -> None:
    resolved = config("").resolve("mine/some/model", base_urls=("http://localhost:9/v1",))
    assert (resolved.wire_name, resolved.missing) == ("some/model", ())
    moved = config("", VLLM_API_KEY="k" * 9).resolve("vllm/m", base_urls=("http://elsewhere/v1",))
    assert (moved.provider.base_urls, moved.key) == (("http://elsewhere/v1",), "k" * 9)


def test_the_observer_is_free_and_in_process() -> None:
    observer = config("").resolve("observer/flow")
    assert observer.provider.in_process
    assert observer.price is not None
    assert observer.price.prompt == 0


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[providers", "not TOML"),
        ("[provider.x]", r"\[provider\]"),
        ("[providers.x]\n", "base_urls is missing"),
        ("[providers.x]\nbase_urls = []", "base_urls is empty"),
        ("[providers.x]\nbase_urls = ['ftp://a']", "ftp://a"),
        ("[providers.x]\npreset = 'nope'", "nope"),
        ("[providers.vllm]\nbase_ulr = 'http://a'", "base_ulr"),
        ("[providers.vllm]\nstructured = 'guided'", "structured"),
        ("[providers]\nx = 1", "expected tables"),
        ("[models.'vllm/a']\nprize = 1", "prize"),
        ("[models.'vllm/a']\nfamily = 'gpt'", "family"),
        ("[models.'nobody/a']\n", "nobody"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_place(text: str, named: str) -> None:
    with pytest.raises(InputError, match=named) as caught:
        config(text)
    assert "vlmrec.toml" in str(caught.value)


@pytest.mark.parametrize("name", ["", "openrouter", "/x", "nobody/x", "vllm/"])
def test_a_model_that_cannot_be_found_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="model"):
        config("").resolve(name)


def test_files_are_found_in_the_folder_and_the_environment_stands_over_dotenv(tmp_path: Path) -> None:
    (tmp_path / "vlmrec.toml").write_text(LAB, "utf-8")
    (tmp_path / ".env").write_text("OTHER_KEY=from-file\nNVIDIA_API_KEY='from file'\n", "utf-8")
    loaded = load_config(environ={"OTHER_KEY": "from-environ"}, folder=tmp_path)
    assert loaded.resolve("other/m").key == "from-environ"
    assert loaded.resolve("nvidia/m").key == "from file"
    assert loaded.source == str(tmp_path / "vlmrec.toml")
    with pytest.raises(InputError, match=r"none\.toml"):
        load_config(tmp_path / "none.toml", environ={}, folder=tmp_path)


def test_dotenv_lines_are_read_as_shells_read_them() -> None:
    text = "# no\nA_KEY=1 # note\nexport B_TOKEN=\"x # y\" # z\nC='it'\nbroken\n =x\nD=\n"
    assert parse_dotenv(text) == {"A_KEY": "1", "B_TOKEN": "x # y", "C": "it", "D": ""}


def test_every_key_and_password_known_is_a_secret() -> None:
    secrets = config(LAB, OTHER_KEY="key-of-other", MY_TOKEN="token-of-mine", HOME="/home/me").secrets
    text, count = secrets.scrub("key-of-other token-of-mine hunter22 /home/me")
    assert (text, count) == ("[secret] [secret] [secret] /home/me", 3)


def test_the_list_holds_no_key_and_says_what_is_missing() -> None:
    rows = list_models(config(LAB, OTHER_KEY="key-of-other"))
    assert "key-of-other" not in repr(rows)
    assert "hunter22" not in repr(rows)
    by_name = {(row.provider, row.model): row for row in rows}
    assert by_name["other", None].missing == ()
    assert by_name["openrouter", "openrouter/qwen/plus"].missing != ()
    assert by_name["openrouter", "openrouter/qwen/plus"].price == "0.40 in, 2.4 out"
    assert by_name["lab", None].price == "2.50 per GPU and hour"


def test_models_prints_one_json_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(models_command, ["--json"])
    assert result.exit_code == 0
    assert {row["provider"] for row in json.loads(result.stdout)} == set(PRESETS)
    assert CliRunner().invoke(models_command, []).stdout.startswith("provider")


# ---- what is sent ----------------------------------------------------------------------------


def test_fields_a_server_does_not_read_are_left_out_and_named() -> None:
    asked = {"model": "m", "max_tokens": 9, "temperature": 0, "top_k": 0, "media_io_kwargs": {"video": {"fps": 4}}}
    kept, left_out = accepted_fields(asked, PRESETS["openrouter"])
    assert left_out == ("media_io_kwargs",)
    assert kept["provider"] == {"allow_fallbacks": False, "require_parameters": True}
    assert accepted_fields(asked, PRESETS["vllm"]) == (asked, ())
    assert accepted_fields(asked, PRESETS["nim"])[0]["top_k"] == -1
    assert accepted_fields(asked, PRESETS["openai"])[0]["max_completion_tokens"] == 9


def test_a_schema_is_sent_without_labels_and_in_the_providers_form() -> None:
    schema = {
        "type": "object",
        "properties": {"x-ray": {"enum": ["a"], "x-labels": {"a": "가"}}, "l": {"type": "array", "uniqueItems": True}},
        "required": ["x-ray"],
    }
    plain = grammar_schema(schema)
    assert plain["properties"] == {"x-ray": {"enum": ["a"]}, "l": {"type": "array"}}
    openai = schema_fields(schema, name="answer", provider=PRESETS["openrouter"])
    assert openai["response_format"]["json_schema"] == {"name": "answer", "schema": plain, "strict": True}
    own = config('[providers.v]\npreset="vllm"\nstructured="structured_outputs"').providers["v"]
    assert schema_fields(schema, name="answer", provider=own) == {"structured_outputs": {"json": plain}}
    none = config('[providers.v]\npreset="vllm"\nstructured="none"').providers["v"]
    with pytest.raises(InputError, match="F=prompt"):
        schema_fields(schema, name="answer", provider=none)


def test_families_are_asked_to_think_each_in_its_own_way() -> None:
    assert adapt_tail("Q", family="cosmos", thinking=True) == f"Q\n\n{THINK_BLOCK}"
    assert adapt_tail("Q", family="cosmos", thinking=False) == "Q"
    assert "<answer>" in adapt_system("S", family="think_answer", thinking=True)
    assert adapt_system("S", family="plain", thinking=True) == "S"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(5.7, 5.7), ("00:05.70", 5.7), ("1:02", 62.0), ("01:00:01.5", 3601.5), ("5.7", None), (None, None), (True, None)],
)
def test_times_are_read_as_the_models_write_them(value: object, expected: float | None) -> None:
    assert seconds_of(value) == expected


def test_boxes_are_read_under_any_name_and_put_into_thousandths() -> None:
    assert box_of({"bbox_2d": [1, 2, 3, 4], "label": "car"}) == (1, 2, 3, 4)
    assert box_of({"box_2d": [1, 2, 3, 4]}) == box_of([1, 2, 3, 4])
    assert box_of({"box": [1, 2, 3]}) is None
    assert box_of([1, 2, 3, True]) is None
    assert to_thousandths((64, 36, 640, 360), space="pixels", width=1280, height=720) == (50, 50, 500, 500)
    assert to_thousandths((0.1, 0.2, 0.5, 1), space="unit", width=1, height=1) == (100, 200, 500, 1000)
    assert to_thousandths((1, 2, 3, 4), space="thousandths", width=9, height=9) == (1, 2, 3, 4)


# ---- where it is sent ------------------------------------------------------------------------


def test_a_clip_stays_with_its_server_and_clips_spread_over_all() -> None:
    urls = [f"http://gpu{i}:8000/v1" for i in range(4)]
    picked = {f"clip{i}": pick_server(f"clip{i}", urls) for i in range(400)}
    assert picked == {clip: pick_server(clip, urls) for clip in picked}
    assert all(60 < count < 140 for count in Counter(picked.values()).values())


def test_taking_a_server_away_moves_only_its_own_clips() -> None:
    urls = [f"http://gpu{i}:8000/v1" for i in range(4)]
    for number in range(200):
        before, after = pick_server(f"c{number}", urls), pick_server(f"c{number}", urls[:3])
        assert before == 3 or before == after


def test_this_machine_is_never_reached_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "inner.example")
    assert proxy_for("http://127.0.0.1:8000/v1") is None
    assert proxy_for("http://inner.example/v1") is None
    assert proxy_for("http://outer.example/v1") == "http://proxy:3128"


def test_a_url_is_shown_without_what_is_secret_in_it() -> None:
    assert public_url("https://user:pw@host:8000/v1?key=x#y") == "https://host:8000/v1"
    assert public_url("http://[::1]:8000/v1") == "http://[::1]:8000/v1"


def test_docs_list_the_presets_and_their_example_is_a_valid_file() -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "providers.md").read_text("utf-8")
    for name, preset in PRESETS.items():
        row = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
        assert preset.in_process or f"`{preset.base_urls[0]}`" in row
        assert preset.key_env is None or f"`{preset.key_env}`" in row
        assert preset.max_inline_bytes is None or f"{preset.max_inline_bytes:,} bytes" in row
        assert f"**{name}**" in text
    example = text.partition("```toml\n")[2].partition("```")[0]
    assert config(example).resolve("lab/cosmos").settings.thinking
