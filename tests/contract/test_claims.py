"""The page of claims names every interval, test and verdict that the package has."""

import dataclasses
import inspect
import re
from pathlib import Path

import surtree
import surtree.metrics

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "evidence" / "claims.md").read_text("utf-8")
WORDS = re.compile(
    r"limit|interval|band|lower|upper|p_value|verdict|evidence|standard_error|probability"
)


def public_claims():
    """Yield the public names that look like a statement about uncertainty."""
    for module in (surtree, surtree.metrics):
        for name in module.__all__:
            value = getattr(module, name)
            if not inspect.isclass(value):
                if WORDS.search(name):
                    yield name
                continue
            own = {part for part in dir(value) if not part.startswith("_")}
            own |= set(re.findall(r"^    (\w+_) :", value.__doc__ or "", re.MULTILINE))
            if dataclasses.is_dataclass(value):
                own |= {field.name for field in dataclasses.fields(value)}
            # The proof of every model with a tree is that of its sizes.
            own -= {"lower_bound_", "time_limit", "memory_limit"}
            yield from (f"{name}.{part}" for part in sorted(own) if WORDS.search(part))


def test_every_interval_test_and_verdict_is_on_the_page():
    claims = set(public_claims())
    assert len(claims) > 20
    assert sorted(name for name in claims if f"`{name}`" not in PAGE) == []


def test_the_page_names_nothing_that_is_gone():
    named = set(re.findall(r"`(\w+\.\w+)`", PAGE.split("|---|", 1)[1]))
    gone = []
    for name in named:
        owner, part = name.split(".")
        value = getattr(surtree, owner, None) or getattr(surtree.metrics, owner, None)
        fields = (
            {field.name for field in dataclasses.fields(value)}
            if (dataclasses.is_dataclass(value))
            else set()
        )
        if not (hasattr(value, part) or part in fields or part in (value.__doc__ or "")):
            gone.append(name)
    assert gone == []


def test_no_claim_is_left_without_a_simulation():
    assert "not simulated" not in PAGE


def test_every_simulation_of_the_page_has_its_rows():
    pages = set(re.findall(r"\]\(\.\./results/([\w-]+)\.md\)", PAGE))
    assert len(pages) > 5
    for page in pages:
        assert (DOCS / "results" / f"{page}.md").exists()
        assert (DOCS / "results" / f"{page}.csv").exists()
