"""Installs each form into an empty folder, without network and without Rust, and runs a check there."""

import glob
import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile


class Wrong(Exception):
    """A form that does not do what it is for."""


def run(folder, *command, code=0):
    """Runs a command as somebody without Rust, away from the network where that can be had."""
    if apart():
        command = ("unshare", "--net", "--map-root-user", *command)
    path = os.pathsep.join(one for one in os.environ["PATH"].split(os.pathsep) if "cargo" not in one)
    environment = {
        "PATH": path,
        "HOME": folder,
        "LC_ALL": "C.UTF-8",
        "PIP_NO_INDEX": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "npm_config_offline": "true",
    }
    done = subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True, timeout=300)
    if done.returncode != code:
        raise Wrong(f"{' '.join(command)}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    return done.stdout


def apart():
    """Whether a process can be started without network."""
    asked = ["unshare", "--net", "--map-root-user", "true"]
    return bool(shutil.which("unshare")) and subprocess.run(asked, capture_output=True).returncode == 0


def checks(folder, program, root, version):
    """A good package is clean, a broken one is not, and the version is the one that was built."""
    for name in ("crm.json", "broken-invoices.json"):
        shutil.copy(os.path.join(root, "examples", name), folder)
    said = run(folder, *program, "--version")
    if said.split()[1] != version:
        raise Wrong(f"{program}: {said}")
    run(folder, *program, "check", "crm.json")
    report = json.loads(run(folder, *program, "check", "broken-invoices.json", "--format", "json", code=1))
    if report["outcome"] != "findings":
        raise Wrong(f"{program}: {report['outcome']}")


def serves(folder, program):
    """The server makes a store, and says that nobody serves it."""
    run(folder, program, "migrate", "--database", "sqlite:new.db")
    if not os.path.exists(os.path.join(folder, "new.db")):
        raise Wrong(f"{program} makes no store")
    run(folder, program, "health", "--url", "http://127.0.0.1:9", code=1)


def wheels(out, root, version, folder):
    run(folder, sys.executable, "-m", "venv", "env")
    scripts = os.path.join(folder, "env", "bin")
    for name in ("tplkit", "tplkit_server"):
        [wheel] = glob.glob(os.path.join(out, f"{name}-{version}-py3-none-*.whl"))
        run(folder, os.path.join(scripts, "pip"), "install", "--no-index", wheel)
    checks(folder, [os.path.join(scripts, "tplkit")], root, version)
    serves(folder, os.path.join(scripts, "tplkit-server"))


def npm(out, root, version, folder):
    if not shutil.which("npm"):
        print("dist: SKIPPED: there is no npm", file=sys.stderr)
        return
    packages = glob.glob(os.path.join(out, "tplkit-*.tgz"))
    run(folder, "npm", "install", "--offline", "--no-audit", "--no-fund", *packages)
    checks(folder, [os.path.join(folder, "node_modules", ".bin", "tplkit")], root, version)
    run(folder, "npx", "--offline", "tplkit", "check", "crm.json")


def archive(out, root, version, folder):
    [packed] = glob.glob(os.path.join(out, f"tplkit-{version}-*.tar.gz"))
    top = os.path.basename(packed).removesuffix(".tar.gz")
    with tarfile.open(packed) as opened:
        opened.extractall(folder)
    held = sorted(os.listdir(os.path.join(folder, top)))
    if held != ["LICENSE-APACHE", "LICENSE-MIT", "tplkit", "tplkit-server"]:
        raise Wrong(f"{packed} holds {held}")
    for name in ("tplkit", "tplkit-server"):
        program = os.path.join(folder, top, name)
        if sys.platform == "linux":
            stands_alone(program)
        [wheel] = glob.glob(os.path.join(out, f"{name.replace('-', '_')}-{version}-py3-none-*.whl"))
        same(program, wheel, name)
    checks(folder, [os.path.join(folder, top, "tplkit")], root, version)
    serves(folder, os.path.join(folder, top, "tplkit-server"))


def same(program, wheel, name):
    """What is in the wheel is what is in the archive: everything was built once."""
    import zipfile

    with zipfile.ZipFile(wheel) as opened:
        [inside] = [one for one in opened.namelist() if one.endswith(f".data/scripts/{name}")]
        with open(program, "rb") as file:
            if opened.read(inside) != file.read():
                raise Wrong(f"{wheel} holds another program")


def stands_alone(program):
    """No dynamic loader, no symbol table (64-bit ELF, little-endian)."""
    with open(program, "rb") as file:
        text = file.read()
    if text[:6] != b"\x7fELF\x02\x01":
        raise Wrong(f"{program} is no program of 64 bits")
    segments, sections = struct.unpack_from("<QQ", text, 32)
    segment_size, segment_count, section_size, section_count = struct.unpack_from("<HHHH", text, 54)
    kinds = [struct.unpack_from("<I", text, segments + at * segment_size)[0] for at in range(segment_count)]
    tables = [struct.unpack_from("<I", text, sections + at * section_size + 4)[0] for at in range(section_count)]
    if 3 in kinds:
        raise Wrong(f"{program} asks for a dynamic loader")
    if 2 in tables:
        raise Wrong(f"{program} has a symbol table")


def sums(out, written):
    with open(os.path.join(out, "SHA256SUMS"), encoding="utf-8") as file:
        listed = dict(reversed(line.split("  ", 1)) for line in file.read().splitlines())
    held = {os.path.basename(path) for path in written}
    if set(listed) != held:
        raise Wrong(f"SHA256SUMS lists {sorted(listed)}, and there are {sorted(held)}")
    for name, digest in listed.items():
        with open(os.path.join(out, name), "rb") as file:
            if hashlib.sha256(file.read()).hexdigest() != digest:
                raise Wrong(f"{name} has another digest")


def sbom(out, _root, version, _folder):
    [path] = glob.glob(os.path.join(out, "*.cdx.json"))
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    listed = {component["bom-ref"] for component in document["components"]}
    for wanted in (f"pkg:cargo/tplkit@{version}", f"pkg:cargo/tplkit-server@{version}"):
        if wanted not in listed:
            raise Wrong(f"{path} does not list {wanted}")
    named = {other for entry in document["dependencies"] for other in entry["dependsOn"]}
    if named - listed:
        raise Wrong(f"{path} names what it does not list: {sorted(named - listed)}")


def test(root, out, version, written):
    """Tries every form; the number of those that are wrong."""
    if not apart():
        print("dist: no network namespace can be made here; what is installed could reach the network", file=sys.stderr)
    failures = 0

    def listed(*_):
        sums(out, written)

    for form in (listed, sbom, wheels, npm, archive):
        with tempfile.TemporaryDirectory(prefix="tplkit-dist-") as folder:
            try:
                form(out, root, version, folder)
                print(f"dist: ok      {form.__name__}", file=sys.stderr)
            except Wrong as wrong:
                failures += 1
                print(f"dist: FAILED  {form.__name__}: {wrong}", file=sys.stderr)
    return failures
