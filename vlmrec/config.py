"""Settings: ``vlmrec.toml`` over the built-in presets, and keys from the environment or a ``.env`` file.

```toml
[providers.lab]
preset = "vllm"
base_urls = ["http://gpu1:8000/v1", "http://gpu2:8000/v1"]
gpu_hour = "2.50"

[models."openrouter/qwen/qwen3.5-plus"]
price = { prompt = "0.40", completion = "2.40" }   # USD per million tokens
context = 131072
family = "plain"
```

Files and the environment are read by ``load_config`` alone; the rest is pure. Keys are values of a
``Config``, never of anything that is printed or recorded.
"""

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from vlmrec.errors import InputError
from vlmrec.models.budget import Price
from vlmrec.models.presets import FREE, PRESETS, Family, Provider
from vlmrec.models.secrets import Secrets
from vlmrec.models.urls import check_base_url, public_url, url_secrets
from vlmrec.terms import JsonValue

CONFIG_FILE = "vlmrec.toml"
STORE_KEYS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID")
SECRET_ENDINGS = ("KEY", "SECRET", "TOKEN", "PASSWORD")


Kind = TypeVar("Kind", bound=Struct)


class ModelSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of one model beside its provider."""

    name: str | None = None
    family: Family = "plain"
    thinking: bool = False
    price: Price | None = None
    context: int | None = None
    extra: dict[str, JsonValue] = {}


class ResolvedModel(NamedTuple):
    """A model that can be called: everything a client needs, except that ``key`` is None where there is none."""

    id: str
    provider_name: str
    provider: Provider
    wire_name: str
    settings: ModelSettings
    price: Price | None
    key: str | None
    missing: tuple[str, ...]

    @property
    def hourly(self) -> Decimal | None:
        """USD per hour for all its GPUs."""
        return self.provider.gpu_hour * self.provider.gpus if self.provider.gpu_hour is not None else None


class Config:
    """Providers and models by name, and the keys found for them."""

    def __init__(
        self,
        providers: Mapping[str, Provider],
        models: Mapping[str, ModelSettings],
        environ: Mapping[str, str],
        source: str | None = None,
    ) -> None:
        self.providers = dict(sorted(providers.items()))
        self.models = dict(sorted(models.items()))
        self.source = source
        self._environ = dict(environ)

    def key_of(self, provider: Provider) -> str | None:
        """The provider's key, where there is one."""
        return (self._environ.get(provider.key_env) or None) if provider.key_env is not None else None

    @cached_property
    def secrets(self) -> Secrets:
        """Every value that must not be recorded: keys, store credentials, passwords within base URLs, and what it learns."""
        named = {provider.key_env for provider in self.providers.values()} | set(STORE_KEYS)
        values = [value for name, value in self._environ.items() if name in named or _is_secret_name(name)]
        urls = [
            secret for provider in self.providers.values() for url in provider.base_urls for secret in url_secrets(url)
        ]
        return Secrets([*values, *urls])

    def resolve(self, model: str, *, base_urls: tuple[str, ...] = ()) -> ResolvedModel:
        """``model`` (``provider/name``), at ``base_urls`` where given. Raises InputError naming the providers there are."""
        provider_name, slash, name = model.partition("/")
        provider = self.providers.get(provider_name)
        if not slash or not provider_name or not name:
            raise InputError(f"model {model!r}: expected PROVIDER/NAME, such as openrouter/qwen/qwen3.5-plus")
        if provider is None and base_urls:
            provider = Provider(base_urls=base_urls, key_required=False)
        if provider is None:
            known = ", ".join(self.providers)
            raise InputError(
                f"model {model!r}: no provider {provider_name!r} (there are {known}); add [providers.{provider_name}] "
                f"with base_urls to {CONFIG_FILE}, or give --base-url"
            )
        if base_urls:
            provider = msgspec.structs.replace(provider, base_urls=base_urls, in_process=False)
        settings = self.models.get(model, ModelSettings())
        price = settings.price or (FREE if provider.in_process else None)
        key = self.key_of(provider)
        return ResolvedModel(
            id=model,
            provider_name=provider_name,
            provider=provider,
            wire_name=settings.name or (model if provider.in_process else name),
            settings=settings,
            price=price,
            key=key,
            missing=_missing(provider, key),
        )


def load_config(path: Path | None = None, *, environ: Mapping[str, str], folder: Path | None = None) -> Config:
    """The settings in ``path`` (else ``folder/vlmrec.toml`` if it is there), with keys from ``environ`` and ``folder/.env``.

    ``environ`` stands over ``.env``. Raises InputError naming file, place and what was expected.
    """
    folder = folder if folder is not None else Path()
    file = path if path is not None else folder / CONFIG_FILE
    dotenv = folder / ".env"
    keys = parse_dotenv(_read(dotenv)) if dotenv.is_file() else {}
    known = {name: value for name, value in environ.items() if _is_secret_name(name)}
    if path is None and not file.is_file():
        return parse_config("", source=None, environ={**keys, **known}, all_environ=environ)
    return parse_config(_read(file), source=str(file), environ={**keys, **known}, all_environ=environ)


def parse_config(
    text: str,
    *,
    source: str | None,
    environ: Mapping[str, str],
    all_environ: Mapping[str, str] | None = None,
) -> Config:
    """The settings in ``text``. ``all_environ``: where a key named otherwise than ``…_KEY`` is looked up."""
    where = source or CONFIG_FILE
    try:
        document: dict[str, Any] = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where}: not TOML: {error}") from error
    unknown = sorted(set(document) - {"providers", "models"})
    if unknown:
        raise InputError(f'{where}: unknown table [{unknown[0]}]; there are [providers.NAME] and [models."NAME"]')
    providers = dict(PRESETS)
    for name, table in _tables(document, "providers", where):
        providers[name] = _provider(name, table, providers.get(name), where)
    models = {
        name: _converted(table, ModelSettings, f'{where}: [models."{name}"]')
        for name, table in _tables(document, "models", where)
    }
    for name in models:
        if name.partition("/")[0] not in providers:
            raise InputError(f'{where}: [models."{name}"]: no provider {name.partition("/")[0]!r}')
    named = {provider.key_env for provider in providers.values()}
    extra = {name: value for name, value in (all_environ or {}).items() if name in named}
    return Config(providers, models, {**environ, **extra}, source)


class Listed(Struct, frozen=True, kw_only=True):
    """A provider, or one of its models, as ``vlmrec models`` lists it. Holds no key."""

    provider: str
    model: str | None
    base_urls: tuple[str, ...]
    key: str
    price: str
    frame_rate: str
    family: str
    deliveries: tuple[str, ...]
    missing: tuple[str, ...]
    note: str


def list_models(config: Config) -> tuple[Listed, ...]:
    """Every provider, each followed by the models that the settings name."""
    return tuple(
        _listed(config, name, provider, model, settings)
        for name, provider in config.providers.items()
        for model, settings in (
            (None, ModelSettings()),
            *((model, each) for model, each in config.models.items() if model.partition("/")[0] == name),
        )
    )


def _listed(config: Config, name: str, provider: Provider, model: str | None, settings: ModelSettings) -> Listed:
    key = config.key_of(provider)
    found = f"{provider.key_env} {'found' if key is not None else 'not found'}" if provider.key_env else "not needed"
    price = settings.price or (FREE if provider.in_process else None)
    asked = provider.accepts is None or "media_io_kwargs" in provider.accepts
    return Listed(
        provider=name,
        model=model,
        base_urls=tuple(map(public_url, provider.base_urls)),
        key=found,
        price=_price_text(price, provider),
        frame_rate="can be asked for" if asked else "the server's own",
        family=settings.family,
        deliveries=provider.deliveries,
        missing=_missing(provider, key),
        note=provider.note,
    )


def _price_text(price: Price | None, provider: Provider) -> str:
    if price is not None:
        return f"{price.prompt} in, {price.completion} out"
    if provider.gpu_hour is not None:
        return f"{provider.gpu_hour} per GPU and hour"
    return "told after a call" if provider.states_cost else "unknown"


def parse_dotenv(text: str) -> dict[str, str]:
    """``NAME=value`` lines; quotes and ``export`` are taken off, comments passed over."""
    found = {}
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        name, value = name.strip(), value.strip()
        if not equals or name.startswith("#") or not name.isidentifier():
            continue
        if value[:1] in ("'", '"') and value[1:].count(value[0]):
            value = value[1 : value.index(value[0], 1)]
        else:
            value = value.partition(" #")[0].strip()
        found[name] = value
    return found


def _provider(name: str, table: dict[str, Any], built_in: Provider | None, where: str) -> Provider:
    place = f"{where}: [providers.{name}]"
    table = dict(table)
    preset = table.pop("preset", None)
    if preset is not None and preset not in PRESETS:
        raise InputError(f"{place}: no preset {preset!r}; there are {', '.join(PRESETS)}")
    base = PRESETS[preset] if preset is not None else built_in
    if "base_url" in table:
        table["base_urls"] = [table.pop("base_url")]
    unknown = sorted(set(table) - set(Provider.__struct_fields__))
    if unknown:
        raise InputError(f"{place}: unknown key {unknown[0]!r}; known: {', '.join(Provider.__struct_fields__)}")
    if base is None:
        if "base_urls" not in table:
            raise InputError(f"{place}: base_urls is missing, or a preset ({', '.join(PRESETS)})")
        table.setdefault("key_required", "key_env" in table)
        return _checked(table, place)
    changes = {field: getattr(base, field) for field in Provider.__struct_fields__ if field not in table}
    if "base_urls" in table:
        changes["in_process"] = False
    return _checked({**msgspec.to_builtins(changes), **table}, place)


def _checked(table: dict[str, Any], place: str) -> Provider:
    provider = _converted(table, Provider, place)
    if not provider.base_urls:
        raise InputError(f"{place}: base_urls is empty")
    try:
        for url in provider.base_urls:
            check_base_url(url)
    except InputError as error:
        raise InputError(f"{place}: {error}") from error
    return provider


def _converted(table: dict[str, Any], kind: type[Kind], place: str) -> Kind:
    try:
        return msgspec.convert(table, kind, strict=False)
    except msgspec.ValidationError as error:
        raise InputError(f"{place}: {error}") from error


def _tables(document: dict[str, Any], name: str, where: str) -> list[tuple[str, dict[str, Any]]]:
    tables = document.get(name, {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise InputError(f"{where}: [{name}]: expected tables, such as [{name}.NAME]")
    return sorted(tables.items())


def _missing(provider: Provider, key: str | None) -> tuple[str, ...]:
    """What stands between the operator and a call, each in words that say what to do."""
    if provider.key_required and key is None:
        return (f"a key: set {provider.key_env} in the environment or in .env",)
    return ()


def _is_secret_name(name: str) -> bool:
    return name.upper().endswith(SECRET_ENDINGS) or name in STORE_KEYS


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: can't be read: {error}") from error
