"""The commands that the README shows work as they stand there."""

import re
import shlex
from pathlib import Path

README = Path(__file__).parent.parent.parent / "README.md"


def test_commands_of_the_readme(surtree, tmp_path, monkeypatch, gbsg2):
    monkeypatch.chdir(tmp_path)
    patients = gbsg2.rename(columns={"days": "time", "died": "event"})
    patients.to_csv("patients.csv", index=False)
    patients.tail(80).to_csv("others.csv", index=False)
    Path("rows").mkdir()
    patients.to_parquet("rows/part.parquet")
    (block,) = re.findall(r"```console\n(.*?)```", README.read_text(), flags=re.DOTALL)
    commands = [shlex.split(line) for line in block.splitlines()]
    assert {command[1] for command in commands} >= {"fit", "predict", "show", "path", "audit"}
    for command in commands:
        assert command[0] == "surtree"
        if "--validate" in command:  # as many as it says take too long for a test
            command[command.index("--validate") + 1] = "2"
        surtree(*command[1:])
    for name in ("model.json", "report.html", "predictions.parquet", "surtree-demo/report.html"):
        assert Path(name).stat().st_size > 0
