from pathlib import Path

import pytest

from graph_memory.mounts import Mount, find_network_mount, parse_mounts, read_mounts

TABLE = r"""
/dev/sda1 / ext4 rw,relatime 0 0
server:/home /home nfs4 rw,vers=4.2 0 0
/dev/sdb1 /home/me/local xfs rw 0 0
//nas/share /mnt/with\040blank cifs rw 0 0
me@host:/ /mnt/ssh fuse.sshfs rw 0 0
portal /run/user/1000/doc fuse.portal rw 0 0
/dev/sdc1 /over ext4 rw 0 0
server:/over /over nfs rw 0 0
broken
""".strip()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib", None),
        ("/home/me/graph-memory", "nfs4"),
        ("/home/me/local/graph-memory", None),
        ("/home/me/locally", "nfs4"),
        ("/mnt/with blank/memory", "cifs"),
        ("/mnt/ssh", "fuse.sshfs"),
        ("/run/user/1000/doc/x", None),
        ("/over/x", "nfs"),
    ],
)
def test_the_deepest_mount_decides(path: str, kind: str | None) -> None:
    found = find_network_mount(Path(path), parse_mounts(TABLE))
    assert (found.kind if found else None) == kind


def test_a_link_is_followed_to_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "near").symlink_to(tmp_path / "far")
    mounts = [Mount(Path("/"), "ext4"), Mount((tmp_path / "far").resolve(), "nfs")]
    assert find_network_mount(tmp_path / "near" / "memory", mounts) is not None


def test_where_nothing_is_known_nothing_is_refused() -> None:
    assert find_network_mount(Path("/home"), []) is None


def test_the_mounts_of_this_machine_can_be_read() -> None:
    assert any(mount.point == Path("/") for mount in read_mounts())


def test_the_order_of_the_table_does_not_matter_for_nested_mounts() -> None:
    mounts = [Mount(Path("/home/me/local"), "xfs"), Mount(Path("/home"), "nfs4"), Mount(Path("/"), "ext4")]
    assert find_network_mount(Path("/home/me/local/memory"), mounts) is None
    assert find_network_mount(Path("/home/me/memory"), mounts) == mounts[1]
