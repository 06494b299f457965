"""Formulas as MathML, which browsers draw by themselves: no script, no fonts, no network."""

import html
import re
from typing import Any

from latex2mathml.converter import convert

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', flags=re.DOTALL)


def on_page_content(content: str, **_: Any) -> str:
    """Replace the formulas of a page."""
    return _FORMULA.sub(_to_mathml, content)


def _to_mathml(found: re.Match[str]) -> str:
    _, bracket, latex = found.groups()
    display = "block" if bracket == "[" else "inline"
    return convert(html.unescape(latex).strip(), display=display)
