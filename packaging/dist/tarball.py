"""Archives whose bytes depend on their contents alone: sorted names, one time, no owner."""

import gzip
import io
import os
import tarfile


def write(path, top, files, time):
    """Writes `files` (name to bytes, or a pair of bytes and mode) below the folder `top`."""
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            content = files[name]
            content, mode = content if isinstance(content, tuple) else (content, 0o644)
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size, entry.mode, entry.mtime = len(content), mode, time
            archive.addfile(entry, io.BytesIO(content))
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(inner.getvalue())


def read(path):
    with open(path, "rb") as file:
        return file.read()


def licences(root):
    """Both licences, by name."""
    return {name: read(os.path.join(root, name)) for name in ("LICENSE-MIT", "LICENSE-APACHE")}
