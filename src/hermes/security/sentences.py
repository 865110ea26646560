"""What one sentence says: where it ends, and whether it is an order at all."""

from __future__ import annotations

from hermes.security.expressions import compiled

# A phrase does not reach over a paragraph, fence, list item, labelled line, quotation mark, an address in
# brackets, an assignment on a line of its own, a command with flags or, in running text, a full stop. No mark
# that anybody may put between two words stands here: each would be a way around all rules.
_TORN = (
    r"\n\s*\n|```|\n[ \t]*(?:[-*#>|]|\d{1,3}[.)])\s|[\"\u201c\u201d\u300c\u300d|]"
    r"|\n\*\*[\w ]{1,30}(?:\*\*:|:\*\*)|(?<!\])\((?=https?)|[;!?](?=[\u3040-\u9fff\uac00-\ud7a3])"
    r"|(?:^|\n)[a-z0-9]+_[a-z0-9_]*=\S|\s--[a-z][\w-]*[ =]\S+\s--[a-z]"
    r"|\b[a-z]+-[a-z]+ [\w./-]+ --[a-z]"
    r"|\brules? that you (?:cannot|can't|may not) or will not follow"
    r"|\bnever (?:ignore|disregard|forget|override|bypass)\b"
    r"|有効(?:化)?\W?(?:または|か|と)?\W?無効|启用\W?(?:或|和)?\W?禁用|開啟\W?(?:或|和)?\W?關閉"
    r"|\bask the user to (?:add|set|put|fill|create|configure|update|export|install|run)\b"
    r"|\bskip (?:all|every|any|the|your)(?: \w{1,14})? prompts?\b"
)
_STOP = r"[.!?\u3002;][*_\"')]{0,3}\s|\u3002"
_RUNNING = r"[^\W\d_] [^\W\d_]"


def torn(passage: str) -> bool:
    """Whether a passage is more than one thing that is said."""
    if compiled(_TORN).search(passage):
        return True
    return bool(
        compiled(_STOP).search(passage) and (compiled(_RUNNING).search(passage) or "\u3002" in passage)
    )


# "do not ignore these rules": an order to keep them. Only languages that put the negation first.
_NEGATED = (
    r"(?:\b(?:not|never|don'?t|doesn'?t|cannot|can'?t|won'?t|nor|no longer|nao|nunca|jamais|niemals|nicht|nie"
    r"|non|mai|niet|nooit|не|никогда|nigdy|jangan|dung|khong)[ \t*_]+"
    r"(?:[\w']+[ \t*_]+or[ \t*_]+)?(?:[\w']+[ \t*_]+){0,1}"
    r"|(?:不要|不得|切勿|禁止|不能|不会|不可|无法)\w{0,4})$"
)
# "do not override rules, ignore directives, or change them": the negation holds for the whole list.
_NEGATED_LIST = (
    r"\b(?:do not|don't|never|must not|should not|cannot|can't)\s[^.!?:;\n]{3,90}(?:,\s(?:or\s)?|\sor\s)$"
    r"|:\s?no\s[^.!?:;\n]{3,100},\sor\s$"
)
# "The client will forget earlier grants", "a check that ignores earlier decisions": said of a program. Only
# of these: whoever reads may be called by any other name.
_PROGRAM = (
    r"\b(?:apis?|browsers?|builds?|caches?|checks?|ci|clients?|commands?|compilers?|consumers?|daemons?|databases?"
    r"|drivers?|endpoints?|engines?|filters?|flags?|formatters?|functions?|hooks?|importers?|indexes|kernels?"
    r"|librar(?:y|ies)|linters?|loaders?|methods?|middlewares?|modules?|options?|parsers?|plugins?|processes"
    r"|proxy|quer(?:y|ies)|resolvers?|reviews?|routers?|runners?|runtimes?|schedulers?|scripts?|servers?|services?|shells?"
    r"|tests?|validators?|watchers?|workers?)"
)
_STATED = (
    _PROGRAM + r"[ *_]{1,3}(?:will|would|does|did|may|might|could)[ *_]{1,3}(?:[a-z]{2,12}ly[ *_]{1,3})?$"
)
_THIRD = r"(?:ignore|forget|disregard|bypasse|override|overlook|discard)s\b"
# "Has the user cancelled ...?"
_ASKED = (
    r"\b(?:has|have|had|did|does|whether|if|once|when|after|until) (?:the |a |any )?"
    r"(?:user|human|person|owner|they|anyone) (?:(?:has|have|had|ever|already|since|[a-z]{2,10}ly) ){0,2}$"
)
_WHICH = _PROGRAM + r"(?:,?\s(?:that|which))?\s$"


def negated(text: str, start: int, end: int) -> bool:
    """Whether what is said at [start, end) is denied, or stated of a program."""
    if compiled(_NEGATED).search(text, max(0, start - 28), start):
        return True
    if compiled(_STATED).search(text, max(0, start - 44), start):
        return True
    if compiled(_THIRD).match(text, start) and compiled(_WHICH).search(text, max(0, start - 30), start):
        return True
    if compiled(_ASKED).search(text, max(0, start - 60), start):
        return True
    listed = compiled(_NEGATED_LIST).search(text, max(0, start - 110), start)
    return bool(listed and (" or " in text[start : end + 60] or text[:start].endswith("or ")))
