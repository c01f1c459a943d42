"""Text that others wrote, made safe for each place it is shown in.

Names and reasons come from workers, scenarios and services of users: any of them may hold markup, line breaks or
terminal escape sequences.
"""

from __future__ import annotations

import html
import re

__all__ = ["html_text", "markdown_code", "markdown_text", "plain_text"]

# C0 and C1 controls, line separators, half surrogates, and the bidirectional controls that reorder what a person reads.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]+")
_MARKDOWN = re.compile(r"([\\`*_\[\]|~#!])")


def plain_text(text: str) -> str:
    """One line without control characters: safe for a terminal, XML and a file."""
    return _UNPRINTABLE.sub(" ", text)


def html_text(text: str) -> str:
    """Safe as HTML text and inside a quoted attribute."""
    return html.escape(plain_text(text), quote=True)


def markdown_text(text: str) -> str:
    """Safe in a cell of a Markdown table, also where raw HTML is allowed and a name after @ would notify someone."""
    escaped = _MARKDOWN.sub(r"\\\1", plain_text(text))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")


def markdown_code(text: str) -> str:
    """An inline code span; a backtick inside would end it, so it is replaced."""
    return f"`{plain_text(text).replace('`', chr(39)).replace('|', chr(92) + '|')}`"
