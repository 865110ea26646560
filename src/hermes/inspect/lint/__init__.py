"""Lint for prompts: what in the rule files of a project wastes tokens, misleads, or never arrives.

A rule family is one module with `check(subject)`; its rules stand in the table of `finding.py`, its words and
shapes in tables of its own.
"""
