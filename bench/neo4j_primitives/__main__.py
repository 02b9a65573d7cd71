"""Start a server, carry out the sections asked for, and print what was found as JSON."""

import argparse
import json
import os
import platform
import signal
import sys
import time
from collections.abc import Callable

import neo4j
from neo4j import Driver

from bench.neo4j_primitives.client import connect
from bench.neo4j_primitives.guards import guards
from bench.neo4j_primitives.identity import identity
from bench.neo4j_primitives.ids import counter, versions
from bench.neo4j_primitives.lookups import lookups, neighbours
from bench.neo4j_primitives.measuring import Report
from bench.neo4j_primitives.names import names
from bench.neo4j_primitives.reruns import reruns
from bench.neo4j_primitives.scan import scan
from bench.neo4j_primitives.schema import schema
from bench.neo4j_primitives.server import SERVER, running_server
from bench.neo4j_primitives.text import text

SECTIONS: dict[str, Callable[[str, Driver], Report]] = {
    section.__name__: section
    for section in (identity, guards, names, versions, counter, reruns, lookups, neighbours, scan, text)
}


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m bench.neo4j_primitives", description="Try the storage primitives on a real Neo4j."
    )
    parser.add_argument("sections", nargs="*", metavar="section", help=f"of {', '.join(SECTIONS)}")
    chosen = parser.parse_args().sections or list(SECTIONS)
    if unknown := set(chosen) - set(SECTIONS):
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda *_: sys.exit(1))
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, driver {neo4j.__version__}, {SERVER}"
    report: Report = {"machine": machine, "load_before": os.getloadavg()}
    with running_server() as uri, connect(uri) as driver:
        report["schema"] = schema(uri, driver)
        for name in chosen:
            began = time.perf_counter()
            report[name] = SECTIONS[name](uri, driver)
            print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    print(json.dumps(report | {"load_after": os.getloadavg()}, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
