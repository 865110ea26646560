"""Use or mention: is a passage an order to the reader, or does the text talk about such orders?

The rule. A passage is a mention when it is *set apart* (quoted, in a code fence, a table row, a list item or
a code span) and something near says that it is an example, an attack or a thing to refuse: the words before
it in its paragraph, the heading above, the line that opens the list or fence, or a whole text that keeps
speaking of attacks. Mentions warn, uses block.
A passage that is not set apart is a mention only where grammar makes it part of such a sentence: "an attacker
may ...", "never run ...", "the button makes the bot ...". Text that is hidden from people is never a mention.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from hermes.security import manuals
from hermes.security.expressions import compiled
from hermes.security.rulebook import load

# "instructions to ignore ...", "attempts to override ...": someone else's order, reported.
_SPEECH = (
    r"\b(?:instructions?|instructing|designed|intended|crafted|attempts?|attempting|trying|tries|requests?"
    r"|asks?|asking|asked|tells?|telling"
)
_REPORTED = (
    _SPEECH + r"|try|told|orders?|prompts?|claims?|wants?|urges?|text|messages?|comments?|phrases?|content)"
    r"\s(?:\w+\s){0,3}(?:to|that|says?|like|such as)\W{1,3}$"
    r"|如果[^。\n]{0,20}(?:要求|让|叫)[你您]?$"
    r"|\bs[ie] (?:l'|el |o |un |uma? )?(?:utilisateur|usuario|utente)"
    r" (?:\w{2,12} ){0,2}(?:d'|de |di |para |que )?$"
    r"|\bесли пользователь (?:\w{2,12} ){0,2}$"
    r"|\bgrep (?:-[\w-]{1,12} ){0,4}[\"']$"
)
_REPORTED_VERB = (
    _SPEECH + r")\s(?:\w+\s){0,3}to\s(?:ignore|disregard|forget|override|bypass|reveal|act|pretend)\b"
)
# A cross, or "NEVER:", before what is not to be done.
_CROSSED = r"[\u274c\u2717\u2718\U0001f6ab\u26d4][^\w\n]{0,6}(?:[Dd][Oo][Nn]'?[Tt]:\s)?$"
_LABELLED = r"\b(?:never|don'?t|wrong|bad):[^\w\n]{0,4}$"
# "... is reported as a finding, never followed"
_REPORTED_AFTER = (
    r"\b(?:(?:is|are|gets?|must be) (?:reported|refused|rejected|flagged|blocked|treated as data)"
    r"|never (?:to be )?(?:followed|obeyed|executed|acted on))\b"
)
# "An attacker can ...", "a malicious skill may try to ...": what others do. The verb must follow at once;
# what merely stands behind such words is an order still.
_OTHERS = (
    r"\b(?:attackers?|adversar(?:y|ies)|intruders?|hackers?|malware|bad actors?|prompt injections?"
    r"|injected \w{4,12}|(?:malicious|hostile|compromised|poisoned|rogue|jailbroken|untrusted) [a-z]{3,14})"
    r"(?: (?:who|that|which) [a-z]{2,14}(?: [a-z]{2,14}){0,3})?"
    r" (?:can|could|may|might|would|will|tr(?:y|ies|ied)|attempts?)"
    r"(?: (?:also|then|still|even|simply|easily|try|attempt))?(?: to)?(?: [a-z]{2,12}ly)?"
    r"(?: (?:make|let|have) (?:[a-z]{2,12} ){0,2}[a-z]{2,14}"
    r"| (?:get|trick|force|push|convince|cause|lead) (?:[a-z]{2,12} ){1,3}(?:to|into))? $"
    r"|(?:攻击者|黑客|攻撃者|공격자|злоумышленник|атакующ|зловмисник|angreifer|attaquant|atacante|aggressor|saldirgan"
    r"|ke tan cong|napastni[kc]|penyerang|aanvaller)[^\n.,;:!?。，；：！？]{0,40}$"
    r"|\b(?:tests?|attempts?|tr(?:y|ies|ied|ying)) to (?:get|make|trick|have|convince|push|coax|talk)"
    r" (?:[\w-]{1,14} ){1,4}(?:to|into)(?: [^\n.;:!?]{0,80}, (?:and |or )?to)? (?:\w{2,12}ly )?$"
)
# "`/clear` - ...", "the button makes the bot ...": what a command does.
_COMMAND = (
    r"(?:^|\n)[ \t>|*-]{0,6}`(?:/|--)[a-z][\w-]{0,24}(?: [^`\n]{1,40})?`[ \t]?[-:|\u2013\u2014]\W{0,3}$"
    r"|\b(?:makes|lets|causes|allows) (?:the |an? )?(?:bot|model|agent|assistant|llm) (?:to )?$"
)
# "The hook refuses ...", "looks for text such as ...": what a guard does about what is set apart.
_GUARDED = (
    r"\b(?:refuses|denies|blocks|rejects|prevents|forbids|disallows|stops|detects|catches|flags|intercepts"
    r"|(?:looks|scans|checks|watches|tests|screens) for|(?:protects|guards|defends|hardened) against)\b"
    r"[^\n.;:!?]{0,60}[`\"]$"
)
_GUARDED_AFTER = (
    r"(?:(?!\b(?:or|if|unless|until|otherwise|you|your|so|then|when|whenever|because|while|before|after|although"
    r"|though|and|even|once|where)\b)[^\n.,;:!?]){0,50}?"
    r"\b(?:(?:is|are|gets?|was|were|being) (?:[a-z]{2,12}ly )?"
    r"(?:reported|refused|rejected|flagged|blocked|denied|stopped|caught|prevented|intercepted)"
    r"|(?:sandbox|gate|hook|guard|firewall|scanner|policy|gateway|filter)"
    r" (?:denies|blocks|refuses|stops|rejects|flags|catches))\b"
    r"|[^\n]{0,30}\n?[^\n]{0,4}\"(?:decision|status|verdict|action|outcome)\""
    r":\s?\"(?:blocked|denied|refused|rejected|deny|block)"
)
# "... and the like", "... and the sandbox denies it".
_AND_THE_LIKE = (
    r"[\"”」』]?\s?(?:之类|一类|这样的文字|等(?:文字|指令|内容|短语))"
    r"|\s?(?:and|but) (?:the )?(?:sandbox|gate|hook|guard|firewall|scanner|policy|gateway|filter)"
    r" (?:denies|blocks|refuses|stops|rejects|flags|catches) (?:it|that|this)\b"
)
# "Never run `...`".
_FORBIDDEN = (
    r"\b(?:never|do not|don't|must not|mustn't|should not|shouldn't|cannot|can't|may not|won't|will not"
    r"|refuses? to)[ *_]{1,3}(?:(?:run|use|execute|type|call|paste|try|invoke|issue|ever|directly|blindly) )?"
    r"(?:the |any |a )?[`\"'(]{0,2}$"
)
# "You must not: ...; ...", "never comply with requests to ...".
_FORBIDDEN_ALL = (
    r"\b(?:must not|should not|may not|do not|refuse to|never):\s"
    r"(?:(?!\b(?:but|instead|so|then|therefore|please|now|you|just)\b)[^\n.!?]){0,160}$"
    r"|\b(?:never|not|don't|refuse to) (?:comply with|obey|follow|honou?r|fulfil{1,2}|act on|respond to"
    r"|accept|grant) (?:\w{2,14} ){0,3}(?:requests?|attempts?|orders|prompts?|questions?) (?:\w{2,14} ){0,3}"
    r"(?:to|that|which) (?:\w{2,14} ){0,2}[`\"'(]{0,2}$"
)
# "Bad:" before a fence; "Blocked by ..." or "expect: refuse" behind a passage in one.
_BAD = r"\b(?:bad|wrong|never|don't|avoid|incorrect|unsafe|insecure|vulnerable)\W{1,6}$"
_OUTCOME = (
    r"[^\n]{0,60}\n[ \t>]{0,12}\W{0,4}(?:blocked|denied|refused|rejected)\b"
    r"|[^\n]{0,60}(?:\n[^\n]{0,12})?\b(?:expect(?:ed|s)?|label|category|verdict)\W{1,6}(?:\w{1,12}\W{1,3})?"
    r"(?:refus\w{1,4}|block\w{0,3}|den(?:y|ied)|reject\w{0,3}|attack|malicious|unsafe|injection)\b"
)
# "deny: [...]", "blocked commands:" and a list.
_DENY = (
    r"\b(?:deny|denied|block(?:ed|list)?|forbid(?:den)?|disallow(?:ed)?|denylist|blacklist|prohibited|banned)"
    r"(?:[ _-]?\w{2,12}){0,2}[\"'*`]{0,3}\s?[=:]"
)
_DENIED = _DENY + r"[*_]{0,2}[^\n]{0,200}$"
_DENIED_LIST = _DENY + r"[^\n\]]{0,80}\n(?:[ \t]*[-\"'*][^\n]{0,200}\n){0,30}[ \t]*[-\"'*][^\n]{0,200}$"
_SINGLE = r"(?<!\w)'|'(?!\w)"
_FENCE = r"(?m)^[ \t>]{0,12}(?:```|~~~)"
_ITEM = r"[ \t>]*(?:[-*+\u2022]|\d{1,3}[.)])\s"
_HEADING = r"(?m)^#{1,6} .*$"
_REFUSED = (
    r"^#{1,6}\W{1,6}(?:(?:you|agents?|we|it|i) )?(?:must |should |may |will )?"
    r"(?:never|not|do not|don't|not allowed|off[- ]limits|disallowed|denied|blocked)\W{0,4}$|"
    r"\banti-?patterns?\b|\bwhat not to do\b|\b(?:don'?t|never|do not) do\b|\bdon'?ts\b|\bforbidden\b"
    r"|\bprohibited\b|\bprohibitions?\b|禁止|反模式|不要做|やってはいけない|アンチパターン|避けるべき|避免|안티패턴|피해야|금지|запрещ|verboten|prohibido|proibido|interdit"
)
# "**Will not:**", and a list that nothing but its items has interrupted yet.
_NOT_DONE = (
    r"(?:^|\n)[ \t>]{0,8}[*_]{0,2}(?:(?:it|this \w+|the \w+|you|we|i)\s)?(?:will not|won't|must not"
    r"|must never|should not|shouldn't|does not|do not|don't|don'ts|never|may not"
    r"|(?:\w{2,14} )?(?:forbidden|prohibited|banned|disallowed|denied|not allowed|off[- ]limits)"
    r"(?: \w{2,14}){0,2})(?: do| be)?"
    r"[*_]{0,2}:[*_]{0,2}[ \t]*\n\s*(?:" + _ITEM + r"[^\n]{0,400}\n\s*){0,12}" + _ITEM + r"[^\n]{0,400}$"
)
_LIST = 1_600
_CLOSING = r"</([a-z][\w-]{1,23})>"
_BACK = 320
# So many words about attacks in so many letters before and behind make a text one about security.
_OFTEN, _PAGES, _LONGEST_CUE = 4, 4_000, 30


def crossed(text: str, at: int) -> bool:
    """Whether in a text as it was written a cross stands before what begins at `at`."""
    return bool(compiled(_CROSSED).search(text, max(0, at - 12), at))


class Context:
    """Answers for one view, which is scanned once for fences and headings."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._pages: dict[int, list[int]] = {}
        self._tags: dict[str, tuple[int, int]] = {}
        self._last_line = 0, -1

    def mentions(self, start: int, end: int) -> bool:
        """Whether the passage [start, end) is spoken about."""
        if self._reported(start, end) or self._told_of_others(start, end):
            return True
        if self._named(start, end) or self._closes_its_own(start) or self._refused(start):
            return True
        fenced = self._fenced(start)
        quoted = self._quoted(start, end)
        if (fenced is not None or quoted) and (
            self._guarded(start, end) or self._denied(start) or self._judged(end, fenced)
        ):
            return True
        if (fenced is not None or quoted or self._table(start)) and self._security(start):
            return True
        apart = fenced is not None or quoted or self._table(start) or self._listed(start)
        return apart and self._cued(start, end, fenced)

    def _reported(self, start: int, end: int) -> bool:
        """Whether the passage is someone else's order, reported."""
        if compiled(_REPORTED).search(self._text, max(0, start - 60), start):
            return True
        return bool(compiled(_REPORTED_VERB).search(self._text, max(0, start - 40), min(end, start + 40)))

    def names(self, start: int, end: int) -> bool:
        """Whether the passage is program text, in a fence or a code span: names and types, no sentence."""
        if self._fenced(start) is None and not self._spanned(start):
            return False
        return manuals.names(self._text, start, end)

    def documents(self, start: int) -> bool:
        """Whether the passage at `start` says what an option of a command does."""
        return manuals.explains_option(self._text, self._line(start), start, self._fenced(start) is not None)

    def _spanned(self, start: int) -> bool:
        """Whether the passage begins in a code span of its line."""
        line_start, _ = self._line(start)
        return bool(self._text.count("`", max(line_start, start - _BACK), start) % 2)

    def _named(self, start: int, end: int) -> bool:
        """Whether the passage is one word that is all of a code span or quotation: named, not used."""
        around = self._text[max(0, start - 1) : start] + self._text[end : end + 1]
        word = self._text[start:end]
        if any(letter.isspace() for letter in word):
            return False
        return around == "``" or (around == '""' and ("_" in word or "|" in word))

    def _refused(self, start: int) -> bool:
        """Whether the passage is crossed out, or stands under a heading of what is not to be done."""
        if compiled(_LABELLED).search(self._text, max(0, start - 12), start):
            return True
        heading = self._heading(start)
        if heading and compiled(_REFUSED).search(heading):
            return True
        low = max(0, start - _LIST)
        return self._listed(start) and bool(compiled(_NOT_DONE).search(self._text, low, start))

    def _told_of_others(self, start: int, end: int) -> bool:
        """Whether others do it, a command does, or it is never to be done."""
        for rule in (_OTHERS, _COMMAND):
            if compiled(rule).search(self._text, max(0, start - 130), start):
                return True
        if compiled(_FORBIDDEN).search(self._text, max(0, start - 44), start):
            return True
        if compiled(_FORBIDDEN_ALL).search(self._text, max(0, start - 170), start):
            return True
        return bool(compiled(_AND_THE_LIKE).match(self._text, end, end + 40))

    def _guarded(self, start: int, end: int) -> bool:
        """Whether a guard does not let happen what is set apart."""
        if compiled(_GUARDED).search(self._text, max(0, start - 130), start):
            return True
        return bool(compiled(_GUARDED_AFTER).match(self._text, end, end + 120))

    def _denied(self, start: int) -> bool:
        """Whether the passage stands in a list, or a setting, of what is denied."""
        if compiled(_DENIED).search(self._text, max(self._line(start)[0], start - _BACK), start):
            return True
        return bool(compiled(_DENIED_LIST).search(self._text, max(0, start - _LIST), start))

    def _judged(self, end: int, fence: int | None) -> bool:
        """Whether what is in a fence or quoted is called bad, or followed by what a guard says to it."""
        if fence is not None and compiled(_BAD).search(self._text, max(0, fence - 24), fence):
            return True
        return bool(compiled(_OUTCOME).match(self._text, end))

    def _closes_its_own(self, start: int) -> bool:
        """Whether a closing tag was opened in the same text: a part of its structure, no way out of it."""
        tag = compiled(_CLOSING).match(self._text, start)
        if not tag:
            return False
        counted, opened = self._tags.get(tag[1], (0, 0))
        if counted > start:
            counted = opened = 0
        opened += self._text.count(f"<{tag[1]}>", counted, start)
        opened -= self._text.count(f"</{tag[1]}>", counted, start)
        self._tags[tag[1]] = start, opened
        return opened > 0

    def _line(self, at: int) -> tuple[int, int]:
        start, end = self._last_line  # a long one is asked for often
        if not start <= at <= end:
            start = self._text.rfind("\n", 0, at) + 1
            end = self._text.find("\n", at)
            end = len(self._text) if end < 0 else end
            self._last_line = start, end
        return start, end

    def _quoted(self, start: int, end: int) -> bool:
        """Whether the passage stands between quotation marks, or in a code span, of its own line."""
        line_start, line_end = self._line(start)
        line_start = max(line_start, start - _BACK)
        after = self._text[end : min(end + _BACK, max(line_end, end + 160))]
        for mark in '"`':
            if self._text.count(mark, line_start, start) % 2 and mark in after:
                return True
        opened = compiled(_SINGLE).search(self._text, max(line_start, start - 24), start)
        return bool(opened and compiled(_SINGLE).search(after))

    def _table(self, start: int) -> bool:
        line_start, line_end = self._line(start)
        return self._text.count("|", line_start, min(line_end, line_start + 2000)) >= 2

    def _listed(self, start: int) -> bool:
        """Whether the passage stands in a list item or in a quotation of whole lines."""
        line_start, _ = self._line(start)
        return bool(compiled(_ITEM).match(self._text, line_start, start)) or (
            self._text.startswith(">", line_start)
        )

    def _cued(self, start: int, end: int, fence: int | None) -> bool:
        _, line_end = self._line(start)
        low = self._scope(start if fence is None else fence, fence is not None)
        if compiled(load().cues[1]).search(self._text, low, start):
            return True
        quoted = self._quoted(start, end) or self._table(start)
        if quoted and (
            compiled(load().cues[0]).search(self._text, low, start)
            or compiled(load().cues[1]).search(self._text, end, min(line_end, end + 160))
        ):
            return True
        if quoted and compiled(_REPORTED_AFTER).search(self._text, end, end + 200):
            return True
        heading = self._heading(start)
        return bool(heading and compiled(load().cues[1]).search(heading))

    def _scope(self, at: int, fenced: bool) -> int:
        """Where the words that introduce `at` begin: its paragraph, and the one before that leads to it."""
        low = max(0, at - _BACK)
        paragraph = self._text.rfind("\n\n", low, at) + 2
        if paragraph < 2:
            return low
        before = self._text[low : paragraph - 2].rstrip()
        if fenced or before.endswith(":") or compiled(_ITEM).match(self._text, paragraph, paragraph + 60):
            leading = self._text.rfind("\n\n", low, paragraph - 2)
            return low if leading < 0 else leading + 2
        return paragraph

    def _heading(self, at: int) -> str:
        place = bisect_right(self._headings[0], at) - 1
        return self._headings[1][place] if place >= 0 else ""

    def _fenced(self, at: int) -> int | None:
        """Offset of the fence that encloses `at`."""
        place = bisect_right(self._fences, at)
        return self._fences[place - 1] if place % 2 else None

    def _security(self, at: int) -> bool:
        """Whether the pages around `at` are about attacks and defence."""
        page, found = at // _PAGES, 0
        for number in (page, page - 1, page + 1):
            found += sum(at - _PAGES <= place < at + _PAGES for place in self._cues(number))
            if found >= _OFTEN:
                return True
        return False

    def _cues(self, page: int) -> list[int]:
        """Where words about attacks begin on a page; each page is searched once."""
        if page not in self._pages:
            begin, end = max(0, page * _PAGES), max(0, (page + 1) * _PAGES)
            found = compiled(load().cues[1]).finditer(self._text, begin, end + _LONGEST_CUE)
            self._pages[page] = [match.start() for match in found if match.start() < end]
        return self._pages[page]

    @cached_property
    def _fences(self) -> list[int]:
        if "```" not in self._text and "~~~" not in self._text:
            return []
        return [match.start() for match in compiled(_FENCE).finditer(self._text)]

    @cached_property
    def _headings(self) -> tuple[list[int], list[str]]:
        found = list(compiled(_HEADING).finditer(self._text))
        return [match.start() for match in found], [match[0] for match in found]
