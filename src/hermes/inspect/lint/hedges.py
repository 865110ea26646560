"""When a name in a rule file need not exist: it is an example, a place-holder, or about to be made.

Abstaining here is what makes the other findings worth reading.
"""

from __future__ import annotations

import re

_EXAMPLE = re.compile(
    r"\b(?:e\.g|i\.e|for example|examples?|such as|for instance|like|say|would|could|might|template"
    r"|placeholder|optional(?:ly)?"
    r"|if (?:it |they |one )?(?:exists?|present|available)|when (?:it is )?(?:present|available)"
    r"|deprecated|no longer|legacy|former(?:ly)?|not exist)\b"
    r"|例|por exemplo|por ejemplo|par exemple|zum beispiel|например",
    re.IGNORECASE,
)
_MADE = re.compile(
    r"\b(?:creat(?:e|es|ed|ing)|generat(?:e|es|ed|ing|or)|writ(?:e|es|ing|ten)|sav(?:e|es|ed|ing)"
    r"|outputs?|emit(?:s|ted)?"
    r"|produc(?:e|es|ed|ing)|built|compiled|renamed?|mov(?:e|ed)|delet(?:e|ed)|remov(?:e|ed)"
    r"|git-?ignored?|ignored|new files?"
    r"|add (?:a|an|your|new)|uploads?|downloads?|install(?:s|ed)?|named|called|naming|patterns?"
    r"|suffix(?:es)?|prefix(?:es)?"
    r"|crea|criar|gere|genera|cr[ée]er|erstell)\b|創建|创建|生成|保存|写入|作成|созда",
    re.IGNORECASE,
)
# What a heading or a lead may say that turns the rules below it round, or makes them depend on something.
UNSURE_ABOVE = re.compile(
    r"\b(?:avoid|don['’]?ts?|do not|never|not to|bad|anti-?patterns?|wrong|mistakes?|forbidden"
    r"|prohibited|not allowed|incorrect"
    r"|problems?|pitfalls?|red flags?|instead|deprecated|legacy|before|after|old|examples?|if|when"
    r"|unless|options?|either|one of"
    r"|alternativ\w+|questions?)\b|❌|🚫|✗|✖",
    re.IGNORECASE,
)
_STAND_IN = re.compile(
    r"(?:^|[/_.-])(?:path|to|your|my|foo|bar|baz|qux|xxx?|yyyy?|zzz|nnn?|n|x|y|z|example|examples"
    r"|sample|placeholder|some|name"
    r"|file|filename|dir|folder|feature-?name|module-?name|project-?name|component-?name|thing"
    r"|something|whatever|old|new"
    r"|myapp|my-?app|myproject|mymodule|target|yyyy-mm-dd|yyyymmdd|hhmmss|slug|id)(?=$|[/_.-])"
    r"|[A-Z]{4,}-[A-Z]{2,}|X\.Y|v\d+\.x|\.\.\.|…",
    re.IGNORECASE,
)


def exemplary(text: str) -> bool:
    """Whether the words around a name say that it is an example, or gone."""
    return _EXAMPLE.search(text) is not None


def hedged(text: str) -> bool:
    """Whether the words around a name say that it is an example, gone, or made later."""
    return exemplary(text) or _MADE.search(text) is not None


def stands_in(name: str) -> bool:
    """Whether a path or name is a place-holder such as `path/to/file.py`."""
    return _STAND_IN.search(name) is not None
