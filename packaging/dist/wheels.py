"""The wheels: maturin compiles each program and packs it; the static ones fit glibc and musl alike."""

import base64
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile

from .machine import Lacking


def maturin(root, tools):
    """The program, in a virtual environment of its own; the version stands in pyproject.toml."""
    with open(os.path.join(root, "packaging", "tplkit", "pyproject.toml"), encoding="utf-8") as file:
        version = re.search(r"maturin==([0-9.]+)", file.read()).group(1)
    folder = os.path.join(tools, f"maturin-{version}")
    program = os.path.join(folder, "bin", "maturin")
    if not os.path.exists(program):
        print(f"dist: installing maturin {version} into {folder}", file=sys.stderr, flush=True)
        made = subprocess.run([sys.executable, "-m", "venv", folder])
        pip = [os.path.join(folder, "bin", "pip"), "install", "--quiet", f"maturin=={version}"]
        if made.returncode or subprocess.run(pip).returncode:
            shutil.rmtree(folder, ignore_errors=True)
            raise Lacking(f"maturin {version} is not installed, and pip could not fetch it")
    return program


def build(root, out, machine, program, target, environment):
    """Compiles one of the programs and writes its wheel; gives the path of the program."""
    command = [maturin(root, target), "build", "--target", machine.target, "--out", out]
    if machine.linux:
        # The oldest systems that Rust itself runs on.
        command += ["--compatibility", "manylinux2014" if machine.target.endswith("-gnu") else "musllinux_1_1"]
    folder = os.path.join(root, "packaging", program)
    subprocess.run(command, cwd=folder, check=True, env=environment)
    if machine.linux:
        [wheel] = glob.glob(os.path.join(out, f"{program.replace('-', '_')}-*.whl"))
        everywhere(wheel, machine.processor)
    return os.path.join(environment["CARGO_TARGET_DIR"], machine.target, "dist", program)


def everywhere(wheel, processor):
    """Tags the wheel of a static program for glibc and for musl: it asks nothing of either."""
    platforms = ["manylinux_2_17", "manylinux2014", "musllinux_1_1"]
    tags = [f"{one}_{processor}" for one in platforms]
    folder, name = os.path.split(wheel)
    start, _ = name.rsplit("-", 1)
    with zipfile.ZipFile(wheel) as old:
        entries = [(info, old.read(info)) for info in old.infolist()]
    os.remove(wheel)
    record = None
    lines = []
    with zipfile.ZipFile(os.path.join(folder, f"{start}-{'.'.join(tags)}.whl"), "w", zipfile.ZIP_DEFLATED) as new:
        for info, content in entries:
            if info.filename.endswith(".dist-info/RECORD"):
                record = info
                continue
            if info.filename.endswith(".dist-info/WHEEL"):
                kept = [line for line in content.decode().splitlines() if line and not line.startswith("Tag:")]
                content = "\n".join([*kept, *(f"Tag: py3-none-{tag}" for tag in tags), ""]).encode()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            lines.append(f"{info.filename},sha256={digest},{len(content)}\n")
            new.writestr(info, content)
        new.writestr(record, "".join([*lines, f"{record.filename},,\n"]))
