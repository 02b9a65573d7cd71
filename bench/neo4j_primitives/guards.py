"""What a statement sees, and what it overwrites, after it has waited for a lock."""

from neo4j import Driver, ManagedTransaction

from bench.neo4j_primitives.client import ask, clear, one
from bench.neo4j_primitives.locks import LOCK
from bench.neo4j_primitives.measuring import Report
from bench.neo4j_primitives.racing import after_waiting

# Guards must look after they lock. The first form of each pair looks before.
GUARDS = {
    "unlocked": "MATCH (n:Entity {id: 'g'}) WHERE n.n = 0 SET n.n = 10 RETURN n.n AS n",
    "locked": "MATCH (n:Entity {id: 'g'}) REMOVE n._lock WITH n WHERE n.n = 0 SET n.n = 10 RETURN n.n AS n",
}
READS = {
    "in_the_locking_row": "UNWIND ['g'] AS id MATCH (n:Entity {id: id}) REMOVE n._lock RETURN n.id AS id, n.n AS n",
    "matched_again": LOCK + "MATCH (n:Entity) WHERE n.id IN locked RETURN n.id AS id, n.n AS n",
}


def guards(_: str, driver: Driver) -> Report:
    report: Report = {}
    for name, statement in READS.items():
        for what, first in (("changed", "SET n.n = 1"), ("deleted", "DELETE n")):
            clear(driver)
            ask(driver, "CREATE (:Entity {id: 'g', n: 0})")
            change = f"MATCH (n:Entity {{id: 'g'}}) {first}"
            report[f"read_{name}_of_{what}"] = after_waiting(driver, change, one(statement, ids=["g"]))
    for name, statement in GUARDS.items():
        clear(driver)
        ask(driver, "CREATE (:Entity {id: 'g', n: 0})")
        after_waiting(driver, "MATCH (n:Entity {id: 'g'}) SET n.n = 1", one(statement))
        kept = ask(driver, "MATCH (n:Entity) RETURN n.n")[0][0] == 1
        report[f"compare_and_set_{name}"] = "right" if kept else "overwrote a newer value"
    clear(driver)
    absent = "MATCH (n:Entity) WHERE n.id IN ['g'] REMOVE n._lock"
    report["find_for_update_locks_an_absent_key"] = after_waiting(driver, absent, one(absent)) != "did not wait"
    report["two_reads_of_one_transaction_agree"] = reads_agree(driver)
    for degree in (1, 100):
        clear(driver)
        ask(driver, "CREATE (n:Entity {id: 'g'}) WITH n UNWIND range(1, $d) AS i CREATE (n)-[:R {id: i}]->()", d=degree)
        set_weight = one("MATCH (:Entity {id: 'g'})-[r {id: 1}]->() SET r.weight = 1")
        answer = after_waiting(driver, "MATCH (n:Entity {id: 'g'}) REMOVE n._lock", set_weight)
        report[f"commit_of_a_changed_relation_waits_for_an_end_of_degree_{degree}"] = answer != "did not wait"
    return report


def reads_agree(driver: Driver) -> bool:
    count = "MATCH (n:Entity) RETURN count(n) AS n"

    def work(tx: ManagedTransaction) -> bool:
        before = tx.run(count).single(strict=True)["n"]
        ask(driver, "CREATE (:Entity {id: 'h'})")
        return bool(before == tx.run(count).single(strict=True)["n"])

    with driver.session() as session:
        return session.execute_read(work)
