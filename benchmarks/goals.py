"""What is measured, as data: each case, its goal against a rival, and the least the machine allows."""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """`job` and `metric` as the bench scripts name them.

    `most` is the largest ratio ours / rival that meets the goal; `limit` the job and metric, measured in the
    same round, that no program can beat.
    """

    label: str
    job: str
    metric: str
    most: float | None = None
    limit: tuple[str, str] | None = None


def _python(metric: str) -> tuple[str, str]:
    return "limit_python_pass", metric


def _reading(what: str) -> tuple[str, str]:
    return f"limit_prompt_read_{what}", "read_join"


LIMIT_WORDS = {
    "limit_python_pass": "a Python that does nothing",
    "limit_prompt_read": "reading and joining the files",
    "memory_latency": "a file written, synced and renamed",
}

_WRITTEN = ("memory_latency", "limit_tmp_fsync_rename")

GOALS = (
    Case("hermes --version, wall", "startup_version", "wall", 0.12, _python("wall")),
    Case("hermes --help, wall", "startup_help", "wall", 0.12, _python("wall")),
    Case("import of the library, wall", "startup_import", "wall", 0.10, _python("wall")),
    Case("import of the library, memory", "startup_import", "rss_kb", 0.30, _python("rss_kb")),
    *(
        Case(f"warm build, {name}", f"prompt_warm_{what}", "build_warm", most, _reading(what))
        for name, what, most in (
            ("small", "small", 0.10),
            ("realistic", "real", 0.12),
            ("400 kB", "large_agents", 0.15),
            ("200 .mdc", "large_cursor", 0.12),
        )
    ),
    *(
        Case(f"first build of a process, {name}", f"prompt_cold_{what}", "first_build", 0.03, _reading(what))
        for name, what in (
            ("small", "small"),
            ("realistic", "real"),
            ("400 kB", "large_agents"),
            ("200 .mdc", "large_cursor"),
        )
    ),
    Case("1,000 skills, cold", "skills_large", "index_cold", 0.30),
    Case("1,000 skills, from the snapshot", "skills_large", "index_snapshot", 0.25),
    Case("one question, one answer, wall", "oneshot_real", "wall", 0.08),
    Case("one question, one answer, memory", "oneshot_real", "rss_kb", 0.40),
    Case("answer to next request, 10 messages", "api_loop_plain", "gap_10", 0.25),
    Case("cache marks, 5,000 messages", "markers", "markers_5000", 0.05),
    Case("a call over HTTP, new session", "loop_single", "call_0", 0.08),
    Case("a call over HTTP, 5,000 messages", "loop_single", "call_5000", 0.03),
    Case("a call, 200 sessions in one process", "loop_threads_200", "call", 0.083),
    Case("an entry added to memory", "memory_latency", "add", 1.05, _WRITTEN),
    Case("an entry replaced", "memory_latency", "replace", 1.05, _WRITTEN),
    Case("an entry removed", "memory_latency", "remove", 1.05, _WRITTEN),
    Case("hint of a folder, first visit", "hints", "hit", 0.20),
    Case("folder without one, first visit", "hints", "miss", 0.30),
    Case("folder seen before", "hints", "repeat_miss_dir", 0.30),
    Case("here-document of 230 words", "hints", "command_heredoc_200_tokens", 0.10),
    Case("append to the store, up to 100,000", "store_grow_100000", "append", 0.125),
)

WITHIN = (("answer to next request, 5,000 / 10 messages", "api_loop_plain", "gap_5000", "gap_10", 2.0),)
"""Our own growth: the label, the job, the metric with much, the one with little, the most times as long."""

ALSO = (
    Case("import of the library, CPU", "startup_import", "cpu"),
    Case("process after its first build, memory", "prompt_cold_real", "rss_kb"),
    Case("1,000 skills, kept in the process", "skills_large", "index_warm"),
    Case("discovery where there is nothing", "stages", "discovery_none"),
    Case("discovery, nothing, 10 levels deep", "stages", "discovery_none_depth10"),
    Case("context files, realistic", "stages", "context_real"),
    Case("SOUL.md", "stages", "soul"),
    Case("scan, prose of 15 k", "stages", "scan_prose_15k"),
    Case("scan, prose of 65 k", "stages", "scan_prose_64k"),
    Case("scan, CJK of 65 k", "stages", "scan_cjk_64k"),
    Case("scan, `cat a cat a …` of 65 k", "stages", "scan_near_cat_64k"),
    Case("scan, `translate a into b …` of 65 k", "stages", "scan_near_translate_64k"),
    Case("scan, `<!-- a <!-- a …` of 65 k", "stages", "scan_near_comment_64k"),
    Case("cut of 400 kB", "stages", "truncate_400000"),
    Case("one question, one answer, CPU", "oneshot_real", "cpu"),
    Case("the same in a small home, wall", "oneshot_small", "wall"),
    Case("answer to next request, 5,000 messages", "api_loop_plain", "gap_5000"),
    Case("the same with cache marks, 10 messages", "api_loop_cached", "gap_10"),
    Case("the same with cache marks, 5,000", "api_loop_cached", "gap_5000"),
    Case("question to first request, 10 messages", "api_loop_plain", "prologue_10"),
    Case("question to first request, 5,000", "api_loop_plain", "prologue_5000"),
    Case("a call over HTTP, new session, CPU", "loop_single", "cpu_0"),
    Case("a call over HTTP, 5,000 messages, CPU", "loop_single", "cpu_5000"),
    Case("a turn of a growing session", "loop_turns", "turn"),
    Case("a call, 50 sessions in one process", "loop_threads_50", "call"),
    Case("append to the store, up to 10,000", "store_append_10k", "append"),
)
