"""How many tokens a text is, with the method named beside the number."""

from __future__ import annotations

import math
import string
from collections.abc import Iterable

from hermes.contracts import ModelProfile
from hermes.frozen import frozen
from hermes.text import well_formed


@frozen
class TokenCount:
    """`method` is for people; `exact` says that the encoding known to be the model's own counted.

    It is the count of the text alone: what a provider's message frame adds is not in it.
    """

    tokens: int
    method: str
    exact: bool


def count_tokens(text: str, profile: ModelProfile) -> TokenCount:
    """Count by the model's own encoding where it is known and here, else estimate.

    The first exact count of an encoding loads its vocabulary (0.15 to 0.4 s, 40 to 80 MB).
    """
    return count_each((text,), profile)[0]


def count_each(texts: Iterable[str], profile: ModelProfile) -> tuple[TokenCount, ...]:
    """`count_tokens` for many texts in one call, in their order."""
    method = counting_method(profile)
    exact = method.endswith("exact")
    if not profile.tokenizer:
        return tuple(TokenCount(estimate_tokens(text, profile), method, False) for text in texts)
    from toktok import batch_count

    # One thread: a prompt is counted in a millisecond, handing it to more takes longer than that.
    counts = batch_count([well_formed(text) for text in texts], profile.tokenizer, 1)
    return tuple(TokenCount(tokens, method, exact) for tokens in counts)


def counting_method(profile: ModelProfile) -> str:
    """How this model's tokens are counted, in words for people."""
    told = "config.yaml"
    if profile.tokenizer:
        named = profile.source_of("tokenizer").endswith(told)
        return f"{profile.tokenizer}, " + (f"named in {told}" if named else "exact")
    per_token = f"estimate: {profile.chars_per_token:.1f} characters of English a token"
    source = profile.source_of("chars_per_token")
    if source.endswith(told):
        return f"{per_token}, set in {told}"
    return f"{per_token} for {profile.family}" if source else f"{per_token}, not calibrated for this model"


def estimate_tokens(text: str, profile: ModelProfile) -> int:
    """A quick estimate for any model, never an exact count; loads nothing.

    Characters are weighed by kind, since tokenizers work on bytes and learn whole words of letters only:
    a bracket, a digit or an ideograph costs several times what a letter does.
    """
    weighed = sum(n * w for n, w in zip(_kinds(text), profile.char_weights, strict=True))
    return math.ceil(weighed / profile.chars_per_token)


_LETTERS = (string.ascii_letters + " ").encode()


def _kinds(text: str) -> tuple[int, ...]:
    """How many characters of each kind `char_weights` speaks of; found from lengths, without a loop."""
    ascii_ = text.encode("ascii", "ignore")
    marks = len(ascii_.translate(None, _LETTERS))
    letters = len(ascii_) - marks
    if len(ascii_) == len(text):
        return letters, marks, 0, 0, 0, 0
    data = text.encode("utf-8", "surrogatepass")
    four = len(text.encode("utf-16-le", "surrogatepass")) // 2 - len(text)
    wide = len(text) - len(ascii_) - four
    three = len(data) - len(ascii_) - 4 * four - 2 * wide
    cyrillic = data.count(b"\xd0") + data.count(b"\xd1")  # the lead bytes of U+0400 to U+047F
    return letters, marks, wide - three - cyrillic, cyrillic, three, four
