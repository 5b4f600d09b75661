"""What is built for: the target of this machine, and how programs are linked for it.

On Linux they are static. The musl target is used where its standard library and a C compiler for it are
installed; otherwise glibc is linked in (`+crt-static`).
"""

import os
import platform
import shutil
import subprocess
import sys

# The words of npm for the processors that we build for.
NPM = {"x86_64": "x64", "aarch64": "arm64"}


class Lacking(Exception):
    """Something that this machine has not, in one line."""


class Machine:
    def __init__(self):
        machine = {"arm64": "aarch64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine())
        if machine not in NPM or sys.platform not in ("linux", "darwin"):
            raise Lacking(f"nothing is built for {sys.platform} on {machine}")
        self.processor = machine
        self.linux = sys.platform == "linux"
        if not self.linux:
            self.target = f"{machine}-apple-darwin"
        elif musl(machine):
            self.target = f"{machine}-unknown-linux-musl"
        else:
            self.target = f"{machine}-unknown-linux-gnu"
        self.npm_os, self.npm_cpu = sys.platform, NPM[machine]

    def rustflags(self, root):
        """Flags for programs of the target, as CARGO_ENCODED_RUSTFLAGS has them. Build scripts and macros run
        here and do not get them. Where the sources lay is nobody's business, and would make programs differ.
        """
        cargo = os.environ.get("CARGO_HOME") or os.path.join(os.path.expanduser("~"), ".cargo")
        flags = os.environ.get("RUSTFLAGS", "").split()
        flags += [f"--remap-path-prefix={cargo}=cargo", f"--remap-path-prefix={root}=tplkit"]
        if self.target.endswith("-gnu"):
            flags += ["-C", "target-feature=+crt-static"]
        return "\x1f".join(flags)

    def linking(self):
        """How the programs are linked, for people."""
        if not self.linux:
            return "linked against the libraries of macOS"
        if self.target.endswith("-musl"):
            return "static, with musl"
        return "static, with glibc (+crt-static; the musl target was not installed)"


def musl(machine):
    """Whether programs can be built for musl here."""
    target = f"{machine}-unknown-linux-musl"
    asked = subprocess.run(
        ["rustc", "--print", "target-libdir", "--target", target], text=True, capture_output=True
    )
    library = asked.stdout.strip()
    compiler = shutil.which("musl-gcc") or shutil.which(f"{machine}-linux-musl-gcc")
    return bool(asked.returncode == 0 and os.path.isdir(library) and compiler)
