"""Run the benchmarks one after the other: `python -m bench [NAME ...]`; each prints JSON and can be run alone."""

import subprocess
import sys

BENCHES = (
    "start",
    "tools",
    "concurrency",
    "store_sqlite",
    "decay_contention",
    "maintenance",
    "transcripts",
    "ingest",
    "redaction",
)


def main() -> int:
    chosen = sys.argv[1:] or BENCHES
    unknown = set(chosen) - set(BENCHES)
    if unknown:
        print(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    codes = []
    for name in chosen:
        print(f"== {name}", flush=True)
        codes.append(subprocess.run([sys.executable, "-m", f"bench.{name}"], check=False).returncode)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
