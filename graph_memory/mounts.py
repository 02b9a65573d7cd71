"""Which file systems are shared over a network."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_NETWORK = frozenset(
    [
        *("9p", "acfs", "afpfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "glusterfs", "gpfs", "lustre"),
        *("ncpfs", "nfs", "nfs3", "nfs4", "ocfs2", "orangefs", "panfs", "pvfs2", "smb2", "smb3", "smbfs", "webdav"),
    ]
)
"""Kinds with locks or shared memory that other machines, or the host of a virtual one, don't see."""
_NETWORK_FUSE = frozenset(
    ["ceph", "curlftpfs", "davfs2", "gcsfuse", "glusterfs", "goofys", "hdfs", "juicefs", "rclone", "s3fs", "sshfs"]
)
_OCTAL = re.compile(r"\\([0-7]{3})")


class Mount(NamedTuple):
    """A mounted file system: where, and of which kind."""

    point: Path
    kind: str

    @property
    def is_network(self) -> bool:
        """Tell whether other machines may write to it as well."""
        kind = self.kind.casefold()
        if kind.startswith("fuse."):
            return kind.removeprefix("fuse.") in _NETWORK_FUSE
        return kind in _NETWORK


def find_network_mount(path: Path, mounts: Iterable[Mount] | None = None) -> Mount | None:
    """Return the network file system a path lies on (or would, once made); `None` where it is local or unknown."""
    resolved = path.resolve()
    around = [mount for mount in (read_mounts() if mounts is None else mounts) if resolved.is_relative_to(mount.point)]
    if not around:
        return None
    # The deepest mount holds the path; of several at one point the last hides the others.
    deepest = max(enumerate(around), key=lambda at: (len(at[1].point.parts), at[0]))[1]
    return deepest if deepest.is_network else None


def read_mounts() -> list[Mount]:
    """List what is mounted, in the order it was; empty where that can't be known."""
    try:
        return parse_mounts(Path("/proc/self/mounts").read_text(encoding="utf-8", errors="surrogateescape"))
    except FileNotFoundError:
        pass  # not Linux
    except OSError:
        return []
    import psutil  # a server's start doesn't pay for it where there is /proc

    return [Mount(Path(part.mountpoint), part.fstype) for part in psutil.disk_partitions(all=True)]


def parse_mounts(table: str) -> list[Mount]:
    """Parse the table of `/proc/self/mounts`; blanks in paths stand there as octal escapes."""
    return [
        Mount(Path(_OCTAL.sub(lambda match: chr(int(match[1], 8)), point)), kind)
        for _device, point, kind, *_options in (line.split(" ") for line in table.splitlines() if line.count(" ") > 1)
    ]
