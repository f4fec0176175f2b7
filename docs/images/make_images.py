"""Draw the pictures of the README again, from a run of the demo: python docs/images/make_images.py.

It needs what the tests need: playwright, and Chromium.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, sync_playwright

from surtree import CompetingRisksTree
from surtree.datasets import load_melanoma
from surtree.plot import plot_channels

IMAGES = Path(__file__).parent
DEMO = IMAGES.parents[1] / "examples" / "demo.py"


def main() -> None:
    """Run the demo, and take pictures of the tree in its report."""
    with TemporaryDirectory() as directory:
        subprocess.run([sys.executable, str(DEMO), directory], check=True)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            for scheme in ("light", "dark"):
                _draw_hero(browser, Path(directory) / "report.html", scheme)
            browser.close()
    _draw_incidence()


def _draw_hero(browser: Browser, report: Path, scheme: str) -> None:
    """Take a picture of the tree that can be read on a phone, too."""
    page = browser.new_page(
        viewport={"width": 640, "height": 900}, color_scheme=scheme, device_scale_factor=2
    )
    page.goto(report.as_uri())
    page.locator(".surtree").first.screenshot(path=IMAGES / f"hero-{scheme}.png")


def _draw_incidence() -> None:
    model = CompetingRisksTree(max_depth=2, min_events_leaf=5).fit(*load_melanoma())
    ax = plot_channels(model, names={1: "melanoma", 2: "other causes"}, time_unit="days")
    ax.figure.savefig(IMAGES / "incidence.png", dpi=90)


if __name__ == "__main__":
    main()
