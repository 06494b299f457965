"""Formulas as MathML, which browsers draw by themselves: no script, no fonts, no network."""

import html
import re
import unicodedata
from typing import Any

from latex2mathml.converter import convert

_FORMULA = re.compile(
    r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>([.,;:)]*)', flags=re.DOTALL
)
_LETTER = re.compile(r'<(m[in]) mathvariant="([a-z-]+)">([^<]+)</\1>')
_ALPHABETS = {
    "bold": "BOLD",
    "bold-italic": "BOLD ITALIC",
    "double-struck": "DOUBLE-STRUCK",
    "script": "SCRIPT",
}


def on_page_content(content: str, **_: Any) -> str:
    """Replace the formulas of a page."""
    return _FORMULA.sub(_shown, content)


def _shown(found: re.Match[str]) -> str:
    """A formula on the line of the stop or bracket behind it."""
    _, kind, latex, behind = found.groups()
    formula = to_mathml(latex, display=kind == "[")
    return f'<span class="formula">{formula}{behind}</span>' if behind else formula


def to_mathml(latex: str, *, display: bool = False) -> str:
    """A formula, which may have the entities of HTML, as MathML."""
    shown = convert(html.unescape(latex).strip(), display="block" if display else "inline")
    shown = shown.replace(r">\|<", ">‖<").replace("<mo minsize=", '<mo stretchy="true" minsize=')
    return _LETTER.sub(_in_unicode, shown)


def _in_unicode(found: re.Match[str]) -> str:
    r"""Bold and script letters of their own: browsers ignore ``mathvariant``."""
    tag, variant, text = found.groups()
    if variant not in _ALPHABETS:
        return found[0]
    letters = "".join(_letter(_ALPHABETS[variant], one) for one in html.unescape(text))
    return f'<{tag} mathvariant="normal">{letters}</{tag}>'


def _letter(alphabet: str, plain: str) -> str:
    """The letter of an alphabet, such as 𝐆 or ℳ, which Unicode named before it named the others."""
    name = unicodedata.name(plain).replace("LATIN ", "").replace("GREEK ", "")
    name = name.replace(" LETTER", "")
    for prefix in ("MATHEMATICAL ", ""):
        try:
            return unicodedata.lookup(f"{prefix}{alphabet} {name}")
        except KeyError:
            continue
    return plain
