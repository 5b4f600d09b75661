"""The page that the server has built in, of the sources that the programs are built from."""

import os
import subprocess


def is_current(root, page, script):
    """Whether the page was built from the commit at hand, and from nothing else. What was changed since cannot
    be compared, so a changed tree is built anew each time."""
    if not os.path.exists(os.path.join(page, "index.html")):
        return False
    try:
        with open(f"{page}.stamp", encoding="utf-8") as file:
            built = file.read().strip()
    except FileNotFoundError:
        return False
    now = subprocess.run([script, "--stamp"], cwd=root, text=True, capture_output=True, check=True).stdout.strip()
    return built == now and now.endswith(" clean")


def bundle(root):
    """The folder that scripts/playground has written from these sources, or writes now; nothing where its
    toolchain cannot be had: a page of other sources would not check as the programs do."""
    page = os.path.join(root, "target", "playground")
    script = os.path.join(root, "scripts", "playground")
    if is_current(root, page, script):
        return page
    ended = subprocess.run([script])
    if ended.returncode == 3:
        return None
    ended.check_returncode()
    return page
