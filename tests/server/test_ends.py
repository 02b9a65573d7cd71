"""How servers end: by their client, with their parent, and by force; and what is stored then."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.server.wire import COMMAND, SECONDS, RawServer, environment


def wait_until(is_true: Callable[[], bool]) -> bool:
    """Wait until something holds, for so long as no machine needs."""
    until = time.monotonic() + SECONDS
    while not (found := is_true()) and time.monotonic() < until:
        time.sleep(0.02)
    return found


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


# Situation 5.
def test_a_server_without_a_client_ends_at_once(home: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "mcp"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=False,
        env=environment(home),
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_server_whose_client_closes_its_end_writes_what_waits_and_ends(home: Path) -> None:
    with RawServer(home) as server:
        server.initialize()
        server.call("graph_relate", from_name="A", relation="USES", to_name="B")
        assert server.rest() == []
        assert server.process.returncode == 0
    assert (home / "logs" / "dream-audit.jsonl").read_text().count("entity_created") == 2


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_server_does_not_outlive_a_parent_that_was_killed(home: Path) -> None:
    code = f"""
import subprocess, sys, time
server = subprocess.Popen({[*COMMAND, "mcp"]!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
server.stdin.write(b'{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-06-18",'
    b'"capabilities":{{}},"clientInfo":{{"name":"x","version":"1"}}}}}}\\n')
server.stdin.write(b'{{"jsonrpc":"2.0","method":"notifications/initialized"}}\\n')
server.stdin.write(b'{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"graph_stats","arguments":{{}}}}}}\\n')
server.stdin.flush()
server.stdout.readline(); server.stdout.readline()
print(server.pid, flush=True)
time.sleep(1000)
"""
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment(home))
    assert parent.stdout is not None
    server = int(parent.stdout.readline())
    assert is_alive(server)
    parent.kill()
    parent.wait(SECONDS)
    parent.stdout.close()
    assert wait_until(lambda: not is_alive(server))
    # Nothing keeps others out.
    with RawServer(home) as other:
        other.initialize()
        assert other.call("graph_relate", from_name="A", relation="USES", to_name="B")["action"] == "created"


# Situation 1: kill -9 in the middle.
@pytest.mark.spec("tools.durable.before-answer", "storage.atomic.crash")
@pytest.mark.parametrize("answers", [1, 7, 23])
def test_what_was_answered_is_there_after_a_kill_in_the_middle(home: Path, answers: int) -> None:
    told: list[int] = []
    with RawServer(home) as server:
        server.initialize()
        sent = {}
        for number in range(40):
            name = {"tool": "memory_add", "title": f"Note {number}", "category": "note", "content": f"text {number}"}
            if number % 2:
                arguments: dict[str, object] = {it: name[it] for it in ("title", "category", "content")}
                sent[server.request("tools/call", name="memory_add", arguments=arguments)] = number
            else:
                entities = [{"name": f"{side} {number}", "localId": side} for side in ("from", "to")]
                batch = {"entities": entities, "relations": [{"from": "from", "to": "to", "relation": "NEXT"}]}
                sent[server.request("tools/call", name="graph_relate", arguments={"batch": batch})] = number
        for _ in range(answers):
            answer = server.receive()
            assert not answer["result"].get("isError"), answer
            told.append(sent[answer["id"]])
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(SECONDS)
    with RawServer(home) as server:
        server.initialize()
        stats = server.call("graph_stats")
        # All of a batch or none of it.
        assert stats["nodes"]["total"] == 2 * stats["edges"]["total"]
        for number in told:
            if number % 2:
                [note] = server.call("memory_search", query=f'"Note {number}"', limit=1)["memories"]
                assert note["title"] == f"Note {number}"
            else:
                found = server.call("graph_query", entities=[f"from {number}"])
                assert [it["name"] for it in found["nodes"]] == [f"from {number}", f"to {number}"]
        assert server.call("graph_relate", from_name="A", relation="USES", to_name="B")["action"] == "created"


# Situation 2, and a second server that comes and goes.
def test_two_servers_on_one_home_see_each_others_facts(home: Path) -> None:
    with RawServer(home) as one, RawServer(home) as two:
        for server in (one, two):
            server.initialize()
        for number in range(20):
            for server, side in ((one, "one"), (two, "two")):
                server.request(
                    "tools/call",
                    name="graph_relate",
                    arguments={
                        "from_name": side,
                        "relation": "HAS",
                        "to_name": f"{side} {number}",
                        "to_type": "Object",
                    },
                )
        for server in (one, two):
            answers = [server.receive() for _ in range(20)]
            assert not any(it["result"].get("isError") for it in answers)
        assert one.call("graph_stats")["edges"]["total"] == 40
        one.process.kill()
        one.process.wait(SECONDS)
        assert two.call("graph_stats")["edges"]["total"] == 40
        assert two.call("graph_relate", from_name="A", relation="USES", to_name="B")["action"] == "created"
