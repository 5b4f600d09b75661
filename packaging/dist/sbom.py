"""The list of what both programs are made of (CycloneDX 1.5), read from Cargo's own resolution.

Tests, benches and crates of other platforms are left out. Nothing is fetched for it.
"""

import json
import subprocess
import uuid


def write(root, path, version, target):
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    metadata = json.loads(subprocess.check_output(command, cwd=root))
    sums = checksums(root)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    programs = sorted(
        package["id"]
        for package in packages.values()
        if package["id"] in metadata["workspace_members"] and package["name"] in ("tplkit", "tplkit-server")
    )
    reached, waiting = set(), list(programs)
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting += needed(nodes[one])
    product = f"pkg:generic/tplkit@{version}"
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        # The same programs have the same list.
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{product}?target={target}')}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": product,
                "name": "tplkit",
                "version": version,
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
                "properties": [{"name": "tplkit:target", "value": target}],
            }
        },
        "components": [
            component(packages[one], sums, one in programs) for one in sorted(reached, key=lambda one: ref(packages[one]))
        ],
        "dependencies": [{"ref": product, "dependsOn": [ref(packages[one]) for one in programs]}]
        + sorted(
            (
                {
                    "ref": ref(packages[one]),
                    "dependsOn": sorted({ref(packages[other]) for other in needed(nodes[one])}),
                }
                for one in reached
            ),
            key=lambda entry: entry["ref"],
        ),
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1, ensure_ascii=False)
        file.write("\n")


def needed(node):
    """What a release is made with: no dependencies of tests."""
    return [
        dependency["pkg"]
        for dependency in node["deps"]
        if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"])
    ]


def ref(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, sums, program):
    made = {
        "type": "application" if program else "library",
        "bom-ref": ref(package),
        "name": package["name"],
        "version": package["version"],
        "purl": ref(package),
        "scope": "required",
    }
    if package.get("description"):
        made["description"] = " ".join(package["description"].split())
    if package.get("license"):
        # The older way to write a choice is no SPDX expression.
        made["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    known = sums.get((package["name"], package["version"]))
    if known:
        made["hashes"] = [{"alg": "SHA-256", "content": known}]
    if package.get("repository", "") and package["repository"].startswith("https://"):
        made["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return made


def checksums(root):
    """The digests in Cargo.lock, by name and version."""
    found, entry = {}, {}
    with open(f"{root}/Cargo.lock", encoding="utf-8") as file:
        for line in file:
            if line.startswith("[["):
                entry = {}
            elif " = \"" in line:
                key, value = line.strip().split(" = ", 1)
                entry[key] = value.strip('"')
                if key == "checksum":
                    found[(entry["name"], entry["version"])] = entry["checksum"]
    return found
