"""A kind of outcome that pages have never heard of: they show what it returns."""

from dataclasses import replace

import numpy as np
import pytest
from test_report_page import data_of, text_of

from surtree import SurTree
from surtree.datasets import load_gbsg2
from surtree.outcomes import OUTCOMES, Channel, Column, Outcome
from surtree.outcomes.curve import survival_curve
from surtree.report import notebook_html

X, Y = load_gbsg2(backend="pandas")


class Rate(Outcome):
    """Events per unit of time."""

    name = "rate"
    risk_name = "rate ratio"
    risk_note = "A rate ratio of 2 is twice the rate of all rows"
    leaves_clause = "each with a rate of its own"

    @property
    def channels(self):
        return (Channel("event", "event", "#336699"),)

    def columns(self, groups, level=0.95):
        exposure = [float(group.sums[-1]) for group in groups]
        events = [3 * group.n_events for group in groups]
        return (
            Column("events", "events", "events", events, is_count=True),
            Column("exposure", "exposure", "exposure", exposure),
            Column(
                "rate",
                "rate",
                "rate",
                [n / time for n, time in zip(events, exposure, strict=True)],
                [(0.5, 2.5)] * len(groups),
            ),
        )

    def curves(self, group, kind=None, level=0.95):
        return ()

    def risks(self, channel=None):
        return self.tree.theta

    def caption(self, kind, level):
        return "Rates of each shift."

    def figure_notes(self):
        return ("Rate: events over exposure.",)

    def objective_text(self, loss):
        return "Rates."


class Shifts(Rate):
    """The same by day and by night, without limits of night."""

    channel_noun = "shift"

    @property
    def channels(self):
        return Channel("day", "by <day>", "#336699"), Channel("night", "by night", "#993366")

    def curves(self, group, kind=None, level=0.95):
        day, night = (replace(survival_curve(group, kind), channel=one) for one in self.channels)
        return day, replace(night, band=None, observed=None)


@pytest.fixture
def model(request, monkeypatch):
    fitted = SurTree(max_depth=2).fit(X, Y)
    monkeypatch.setitem(OUTCOMES, fitted.tree_.objective.name, request.param)
    return SurTree(max_depth=2).fit(X, Y)


@pytest.mark.parametrize("model", [Rate], indirect=True)
def test_a_page_shows_the_figures_of_any_outcome(model, tmp_path):
    text = text_of(model, tmp_path)
    assert "the leaves, each with a rate of its own." in text
    assert "leaf survival exposure rate rows events" in text
    assert "A rate ratio of 2 is twice the rate of all rows." in text
    assert "rows events exposure rate (95% CI)" in text
    for word in ("relative risk", "hazard ratio", "cause", "arm ", "shift"):
        assert word not in text.split("How this page was made")[0], word
    group = model.tree_.outcome.groups[1]
    assert not group.note
    rate = 3 * group.n_events / group.sums[-1]
    figures = data_of(model, tmp_path)["nodes"][group.node]["figures"]
    assert figures[1] == ["rate", f"{rate:.3g}", "CI 0.5 to 2.5"]
    assert figures[-1] == ["events", str(3 * group.n_events), ""]
    assert f"rate {rate:.3g} (95% CI 0.5 to 2.5)" in notebook_html(model)


@pytest.mark.parametrize("model", [Shifts], indirect=True)
def test_a_page_shows_the_channels_of_any_outcome(model, tmp_path):
    text = text_of(model, tmp_path)
    section = text[text.index("The curves of each leaf") : text.index("The groups in numbers")]
    assert "Rates of each shift. by &lt;day&gt; by night" in section
    assert section.count("at risk 0") == model.tree_.n_leaves
    leaf = model.tree_.outcome.groups[0]
    (value, _) = model.tree_.outcome.curves(leaf)[1].at(500)
    assert np.isfinite(value)
    # Without limits there are no brackets.
    assert f"{leaf.letters}: by night {value:.0%} " in section
    assert "(nan" not in text
