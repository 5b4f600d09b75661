"""The npm packages: `tplkit`, which starts the program, and the one of this platform, which holds it.

Neither has a script that runs at installation: npm takes the platform's package by `os` and `cpu`.
"""

import json
import os

from . import tarball


def write(root, out, version, machine, program, time):
    folder = os.path.join(root, "packaging", "npm", "tplkit")
    with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
        package = json.load(file)
    platform = f"@tplkit/{machine.npm_os}-{machine.npm_cpu}"
    if package["version"] != version or package["optionalDependencies"].get(platform) != version:
        raise SystemExit(f"dist: packaging/npm/tplkit/package.json is not of version {version}")
    files = {
        "package.json": tarball.read(os.path.join(folder, "package.json")),
        "README.md": tarball.read(os.path.join(folder, "README.md")),
        "bin/tplkit.js": (tarball.read(os.path.join(folder, "bin", "tplkit.js")), 0o755),
    }
    licences = tarball.licences(root)
    tarball.write(os.path.join(out, f"tplkit-{version}.tgz"), "package", files | licences, time)
    own = {
        "name": platform,
        "version": version,
        "description": f"The program of tplkit for {machine.npm_os} on {machine.npm_cpu}",
        "license": package["license"],
        "repository": package["repository"],
        "os": [machine.npm_os],
        "cpu": [machine.npm_cpu],
        "preferUnplugged": True,
    }
    files = {
        "package.json": (json.dumps(own, indent=2) + "\n").encode(),
        "bin/tplkit": (program, 0o755),
    }
    # As `npm pack` names it.
    name = f"tplkit-{machine.npm_os}-{machine.npm_cpu}-{version}.tgz"
    tarball.write(os.path.join(out, name), "package", files | licences, time)
