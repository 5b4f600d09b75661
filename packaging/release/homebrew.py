#!/usr/bin/env python3
"""Prints the Homebrew formula with the digests of a release: homebrew.py SHA256SUMS."""

import os
import re
import sys

FORMULA = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "homebrew", "tplkit.rb")


def main(path):
    with open(path, encoding="utf-8") as file:
        sums = dict(reversed(line.split("  ", 1)) for line in file.read().splitlines())
    archive, lines = None, []
    with open(FORMULA, encoding="utf-8") as file:
        # The comment above the class says that digests are missing.
        text = file.read()
    text = text[text.index("class ") :]
    version = re.search(r'version "(.+)"', text).group(1)
    for line in text.splitlines():
        if "url " in line:
            archive = line.rsplit("/", 1)[1].rstrip('"').replace("#{version}", version)
        elif "sha256 " in line:
            if archive not in sums:
                sys.exit(f"homebrew: {path} has no {archive}")
            line = re.sub(r'"0+"', f'"{sums[archive]}"', line)
        lines.append(line)
    print("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1])
