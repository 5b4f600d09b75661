#!/usr/bin/env python3
"""Prints the notes of a release: what CHANGELOG.md says of the version, what each archive is linked with,
and how a download is verified: notes.py VERSION FOLDER, with the files of the release in the folder."""

import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

LINKED = {
    "-musl": "static, with musl",
    "-gnu": "static, with glibc (`+crt-static`, because the musl target could not be had where it was built)",
    "-darwin": "linked against the libraries of macOS",
}


def changes(version):
    with open(os.path.join(ROOT, "CHANGELOG.md"), encoding="utf-8") as file:
        text = file.read()
    for name in (version, "Unreleased"):
        found = re.search(rf"^## \[{re.escape(name)}\].*?\n(.*?)(?=^## \[|\Z)", text, re.MULTILINE | re.DOTALL)
        if found:
            return found.group(1).strip()
    sys.exit(f"notes: CHANGELOG.md says nothing of {version}")


def main(version, folder):
    print(changes(version))
    print("\n## Archives\n")
    for path in sorted(glob.glob(os.path.join(folder, f"tplkit-{version}-*.tar.gz"))):
        name = os.path.basename(path)
        target = name.removesuffix(".tar.gz")
        linked = next(words for end, words in LINKED.items() if target.endswith(end))
        print(f"- `{name}`: {linked}")
    print(
        "\n`SHA256SUMS` has the digests of all files, each `.cdx.json` lists what an archive is made of, and "
        "`gh attestation verify FILE --repo tplkit/tplkit` says where a file was built."
    )


if __name__ == "__main__":
    main(*sys.argv[1:3])
