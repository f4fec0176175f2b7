"""The commands of the README and of the page on the command line work as they stand there."""

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "docs" / "command-line.md")


def test_commands_of_the_documents(surtree, tmp_path, monkeypatch, gbsg2):
    monkeypatch.chdir(tmp_path)
    patients = gbsg2.rename(columns={"days": "time", "died": "event"})
    patients.to_csv("patients.csv", index=False)
    patients.tail(80).to_csv("others.csv", index=False)
    Path("rows").mkdir()
    patients.to_parquet("rows/part.parquet")
    blocks = [
        block
        for page in PAGES
        for block in re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), flags=re.DOTALL)
    ]
    assert len(blocks) == len(PAGES)
    commands = [shlex.split(line) for block in blocks for line in block.splitlines()]
    assert {command[1] for command in commands} >= {"fit", "predict", "show", "path", "audit"}
    for command in commands:
        assert command[0] == "surtree"
        if "--validate" in command:  # as many as it says take too long for a test
            command[command.index("--validate") + 1] = "2"
        surtree(*command[1:])
    for name in ("model.json", "report.html", "predictions.parquet", "surtree-demo/report.html"):
        assert Path(name).stat().st_size > 0
