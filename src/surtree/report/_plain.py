"""Pages of models that are no tree: what they are, what to expect of them, and what they hold."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from importlib.resources import files
from inspect import getdoc
from math import isfinite
from string import Template
from typing import Any

from surtree._support.package import VERSION
from surtree.report._comparison import comparison_html
from surtree.report._html import Content, Markup, element, markup, note, terms, verdict
from surtree.report._resampled import curves_html, performance_html
from surtree.report._strip import plain_strip_html
from surtree.summary.findings import parameters_of
from surtree.summary.labels import Labels
from surtree.summary.survival_table import INDEPENDENT_CENSORING, follow_up_text
from surtree.validation.verdict import prediction_verdicts
from surtree.words.numbers import number, plural
from surtree.words.quoting import script_json

# Marks of a docstring that are no words.
_MARKS = str.maketrans("", "", "`*")


@dataclass(frozen=True)
class Section:
    """A part of a page."""

    name: str  # in its address
    link: str  # in the navigation
    heading: str
    content: Markup


@dataclass(frozen=True)
class Asked:
    """What the user asked of a page."""

    title: str
    times: Sequence[float]  # at which survival is stated
    time_unit: str | None
    labels: Labels
    today: date = field(default_factory=date.today)

    @property
    def unit(self) -> str:
        """The unit of time after a blank; empty where there is none."""
        return f" {self.time_unit}" if self.time_unit else ""


def plain_page(
    model: Any,
    asked: Asked,
    sections: Sequence[Section],
    facts: Sequence[tuple[str, str, str]] = (),
    script: str = "",
    data: Any = None,
) -> str:
    """Return the page of a model that is no tree."""
    parts = [*sections, Section("is", "What it is", "What is this model?", _what_it_is(model))]
    summary = terms([*facts, *_facts(model, asked)], "figures")
    strip = plain_strip_html(model)
    return plain_html(asked, strip, parts, summary, _provenance(model, asked), script, data)


def plain_html(
    asked: Asked,
    strip: Markup,
    parts: Sequence[Section],
    summary: Markup,
    provenance: Markup,
    script: str = "",
    data: Any = None,
) -> str:
    """Return a page of sections."""
    return Template(asset("plain.html")).substitute(
        title=markup(asked.title),
        links=markup(*(element("a", part.link, href=f"#{part.name}") for part in parts)),
        strip=strip,
        summary=summary,
        sections=markup(*map(_section, parts)),
        provenance=provenance,
        style=asset("tree.css") + asset("report.css") + asset("card.css"),
        script=script,
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        data=script_json(data),
    )


def expectation(model: Any, asked: Asked) -> Section:
    """Return what to expect of a model in new data, which its page says before all else."""
    validation = getattr(model, "validation_", None)
    verdicts = prediction_verdicts(validation, None, 1, noun="model")
    shown = [verdict(one.heading, one.text, is_good=one.is_good) for one in verdicts]
    inside: list[Content] = [*shown]
    comparison = getattr(model, "comparison_", None)
    if validation is None and comparison is not None:
        inside = [element("p", "How it does on held-out rows is said beside other models.")]
    elif validation is None:
        inside.append(
            element(
                "p",
                "Set model.validation_ = validate(model, X, y) to say here how well it predicts. "
                "All figures of this page are about the rows of the fit (in sample).",
            )
        )
    else:
        inside += [
            performance_html(validation, noun="model"),
            curves_html(validation, asked.time_unit, noun="model"),
        ]
    inside.append(comparison_html(comparison))
    return Section("validation", "Validation", "How well does it predict?", markup(*inside))


def asset(name: str) -> str:
    """Return the text of a file beside this one."""
    return (files("surtree.report") / name).read_text(encoding="utf-8")


def _section(part: Section) -> Markup:
    heading = element("h2", part.heading, id=f"{part.name}-heading")
    return element(
        "section", heading, part.content, id=part.name, aria_labelledby=f"{part.name}-heading"
    )


def _facts(model: Any, asked: Asked) -> list[tuple[str, str, str]]:
    rows, events = getattr(model, "n_rows_", None), getattr(model, "n_events_", None)
    facts = []
    if rows and events is not None:
        share = f"{100 * events / rows:.0f} % of the rows, the others censored"
        facts += [("rows", str(rows), ""), ("events", str(events), share)]
    follow_up = getattr(model, "follow_up_", None)
    if follow_up is not None and isfinite(follow_up.median):
        text = f"{number(follow_up.median, 4)}{asked.unit}"
        facts.append(("median follow-up", text, "by the reverse Kaplan-Meier estimate"))
    names = len(getattr(model, "feature_names_in_", ())) or model.n_features_in_
    return [*facts, ("columns", str(names), "")]


def _what_it_is(model: Any) -> Markup:
    """Return the beginning of the description of a class, without marks of its source."""
    paragraphs = (getdoc(type(model)) or "").split("\n\n")
    end = next((k for k, text in enumerate(paragraphs) if text.startswith("Parameters\n")), 2)
    return markup(
        *(element("p", " ".join(text.split()).translate(_MARKS)) for text in paragraphs[:end])
    )


def _provenance(model: Any, asked: Asked) -> Markup:
    end = float(model.unique_times_[-1])
    times = f"the last event at {number(end, 6)}{asked.unit}"
    follow_up = getattr(model, "follow_up_", None)
    if follow_up is not None:
        times += f"; {follow_up_text(follow_up, asked.unit)}"
    named = [type(model).__name__, *(f"{name}={text}" for name, text in parameters_of(model))]
    facts = [
        *asked_facts(asked),
        ("follow-up", times, None),
        ("censoring", INDEPENDENT_CENSORING.replace("rows of a leaf", "rows"), None),
        ("parameters", Markup(" ".join(element("code", text) for text in named)), None),
    ]
    return terms(facts, "facts")


def asked_facts(asked: Asked) -> list[tuple[str, Content, Content]]:
    """Return when a page was made, and by what."""
    return [("made", f"{asked.today.isoformat()} with surtree {VERSION}", None)]


def counted(count: int, noun: str) -> Markup:
    """Return in small print that some things of a list are not shown; nothing where all are."""
    return note(f"{plural(count, noun)} more.") if count > 0 else Markup()
