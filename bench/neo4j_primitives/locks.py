"""The statements that lock entities, in every form that was tried."""

# Locks in the order of the ids, then matches again what it locked: an entity may be gone by the time its lock is ours,
# and one that wasn't there to lock may have come.
LOCK = """
MATCH (n:Entity) WHERE n.id IN $ids
WITH n, n.id AS id ORDER BY id REMOVE n._lock
WITH collect(id) AS locked
"""
AS_GIVEN = "UNWIND $ids AS id MATCH (n:Entity {id: id}) REMOVE n._lock WITH collect(id) AS locked\n"
# Removing a property locks nothing as long as no property of the database bears that name.
LOCKS = {
    "unknown_name": LOCK.replace("n._lock", "n._never_used"),
    "sorted": LOCK,
    "sorted_by_the_caller": AS_GIVEN,
    "unsorted": AS_GIVEN,
    "label": LOCK.replace("REMOVE n._lock", "SET n:Entity"),
    "none": "WITH $ids AS locked\n",
}
