"""Who is who: what two writes mean by the same name, and under which name and id it comes back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.adapters.reference.store import ReferenceStore
from graph_memory.bootstrap import build_services
from graph_memory.config import load_config
from tests.tools.conftest import Client, Clock

NFC, NFD = "Caf\u00e9", "Cafe\u0301"
TEXTS = [
    "low-cost",
    "由…组成",
    "definiert_für",
    "is 50% of",
    "v2.1",
    "🚀",
    "X` SET e.pwned = 1 //",
    "KNOWS]->() DETACH DELETE n //",
    "'; drop table entities; --",
    '{"$ref": "x"}',
    "AND",
]


def ids(client: Client) -> list[str]:
    return sorted(it["id"] for it in client.call("graph_entities", limit=500)["entities"])


# Situation 16, originals "Postgres, postgres, …", situation 15.
@pytest.mark.spec(
    "names.key.casefold",
    "names.key.trim",
    "names.key.inner-space",
    "names.key.nfc",
    "names.display.first-spelling",
)
@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("Postgres", ["POSTGRES", " postgres ", "postgres\n"]),
        ("Straße", ["STRASSE", "strasse"]),
        ("Project X", ["Project \t X", "project  x"]),
        (NFC, [NFD, NFD.upper()]),
    ],
)
def test_spellings_of_one_name_are_one_entity_shown_as_first_written(
    client: Client, first: str, later: list[str]
) -> None:
    client.relate(first, "USES", "Hub")
    for spelling in later:
        client.relate(spelling, "USES", "Hub")
    entities = client.call("graph_entities")["entities"]
    assert sorted(it["name"] for it in entities) == sorted([first, "Hub"])
    assert {client.node(it)["name"] for it in [first, *later]} == {first}


@pytest.mark.spec("names.key.type", "names.lookup.untyped-single", "names.lookup.ambiguous", "graph_relate.type-new")
def test_a_name_without_a_type_is_refused_where_two_types_have_it(client: Client) -> None:
    client.relate("Mercury", "USES", "Hub", from_type="Project")
    # Said without a type it is the only one there is.
    client.call("graph_relate", from_name="mercury", relation="USES", to_name="hub")
    assert client.counts()["nodes"] == 2
    client.relate("Mercury", "KNOWS", "Hub", from_type="Object")
    assert client.counts()["nodes"] == 3
    text = client.refusal("graph_relate", from_name="Mercury", relation="LIKES", to_name="Hub", to_type="Concept")
    assert text.startswith("from_name: ")
    assert "ambiguous" in text
    for entity in client.call("graph_entities", search="Mercury")["entities"]:
        assert f"{entity['name']} (id {entity['id']}, type {entity['type']})" in text


@pytest.mark.spec("names.key.tenant", "access.tenant.isolation")
def test_a_name_of_two_tenants_is_two_entities(client: Client) -> None:
    other = client.as_tenant("other")
    client.relate("Postgres", "USES", "Mine")
    other.relate("postgres", "USES", "Theirs", from_properties={"owner": "other"})
    assert client.node("Postgres")["properties"] == {"mention_count": 1}
    assert other.node("Postgres")["name"] == "postgres"
    assert [it["name"] for it in client.around("Postgres")["nodes"]] == ["Postgres", "Mine"]
    assert [it["name"] for it in other.around("Postgres")["nodes"]] == ["postgres", "Theirs"]


@pytest.mark.spec("names.empty.refused", "names.type.empty-refused", "names.type.at-most-200")
@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("from_name", " \t"),
        ("to_name", ""),
        ("from_type", " "),
        ("to_type", ""),
        ("relation", "\n"),
        ("from_type", "t" * 201),
        ("relation", "r" * 201),
        ("from_name", "n" * 1_001),
    ],
)
def test_an_empty_or_overlong_name_is_refused_by_its_argument(client: Client, argument: str, value: str) -> None:
    given = {"from_name": "A", "from_type": "Concept", "relation": "USES", "to_name": "B", "to_type": "Concept"}
    assert client.refusal("graph_relate", **{**given, argument: value}).startswith(f"{argument}: ")


@pytest.mark.spec("names.empty.refused", "names.type.empty-refused")
@pytest.mark.parametrize(
    ("argument", "entity", "relation"),
    [
        ("batch.entities.1.name", {"name": "  "}, {}),
        ("batch.entities.1.type", {"type": ""}, {}),
        ("batch.relations.0.relation", {}, {"relation": " "}),
    ],
)
def test_a_batch_says_which_of_its_items_has_an_empty_name(
    client: Client, argument: str, entity: dict[str, str], relation: dict[str, str]
) -> None:
    batch = {
        "entities": [{"name": "A"}, {"name": "B", "type": "Concept", **entity}],
        "relations": [{"from": "A", "to": "A", "relation": "USES", **relation}],
    }
    assert client.refusal("graph_relate", batch=batch).startswith(f"{argument}: ")


# Situations 21 and 22, originals "type / relation holding a backtick".
@pytest.mark.spec("names.type.any-text", "names.type.is-data", "names.type.at-most-200")
@pytest.mark.parametrize("text", [*TEXTS, "x" * 200, "两" * 200])
def test_any_text_is_a_type_and_a_relation_and_comes_back_as_it_was(client: Client, text: str) -> None:
    client.relate("Bystander", "KNOWS", "Other", from_properties={"note": "untouched"})
    before = client.around("Bystander")
    client.relate("A", text, "B", from_type=text)
    assert client.edge("A", text, "B")["weight"] == 0.7
    assert [it["name"] for it in client.call("graph_entities", type=text)["entities"]] == ["A"]
    assert client.call("graph_stats")["edges"]["by_type"][text] == 1
    assert client.around("Bystander") == before


@pytest.mark.spec("names.type-key.casefold", "names.type-key.separators", "names.type.seed-spelling")
@pytest.mark.parametrize("relation", ["USES_TECH", "uses_tech", "Uses Tech", "uses-tech", "uses - tech"])
@pytest.mark.parametrize("entity_type", ["Person", "person", " PERSON "])
def test_the_vocabulary_keeps_its_own_spelling(client: Client, relation: str, entity_type: str) -> None:
    client.relate("Ada", "USES_TECH", "Git", from_type="Person")
    reply = client.relate("Ada", relation, "Git", from_type=entity_type)
    assert (reply["action"], reply["edge"]["type"]) == ("strengthened", "USES_TECH")
    client.relate("Bo", relation, "Git", from_type=entity_type)
    assert client.node("Bo")["type"] == "Person"
    assert client.counts() == {"nodes": 3, "edges": 2, "memories": 0}


@pytest.mark.spec("names.type.first-spelling", "names.type-key.casefold", "names.type-key.separators")
def test_other_types_keep_the_spelling_of_their_first_use(client: Client) -> None:
    client.relate("A", "Peels Off", "B", from_type="Ripe Banana")
    client.relate("C", "peels-off", "B", from_type="RIPE_BANANA")
    entities = [{"name": "D", "type": "Kiwi"}, {"name": "E", "type": "kiwi"}]
    relations = [{"from": "D", "to": "E", "relation": "Eats"}, {"from": "E", "to": "D", "relation": "EATS"}]
    client.call("graph_relate", batch={"entities": entities, "relations": relations})
    stats = client.call("graph_stats")
    assert stats["nodes"]["by_type"] == {"Concept": 1, "Kiwi": 2, "Ripe Banana": 2}
    assert stats["edges"]["by_type"] == {"Peels Off": 2, "Eats": 2}
    assert [client.node(it)["type"] for it in "ACDE"] == ["Ripe Banana", "Ripe Banana", "Kiwi", "Kiwi"]
    assert {it["type"] for it in client.around("D")["edges"]} == {"Eats"}


# Originals: "relation `uses_tech`, type `Banana`".
@pytest.mark.spec("names.type.new-is-searchable", "names.type.every-type-searched")
def test_every_type_is_searched_and_a_filter_restricts_to_one(client: Client) -> None:
    client.relate("Yellow fruit", "IS_A", "Fruit", from_type="Banana", to_type="Person")
    assert [it["type"] for it in client.around("yellow", max_hops=0)["nodes"]] == ["Banana"]
    found = {it["name"]: it["type"] for it in client.call("graph_entities", search="fruit")["entities"]}
    assert found == {"Yellow fruit": "Banana", "Fruit": "Person"}
    only = client.call("graph_entities", search="fruit", type="banana")["entities"]
    assert [it["name"] for it in only] == ["Yellow fruit"]


# Originals: "日本語, Привет, 你好; C, C++, C#; Café, Caf".
@pytest.mark.spec("names.id.slug", "names.id.suffix-only-on-clash", "names.id.never-empty")
def test_ids_are_slugs_with_a_suffix_only_where_two_would_clash(client: Client) -> None:
    names = ["Project X", "C", "C++", "C#", "日本語", "你好", "!!!", "Café", "Caf"]
    for name in names:
        client.relate(name, "IS_A", "Thing")
    found = {name: client.node(name)["id"] for name in names}
    assert all(found.values())
    assert len(set(found.values())) == len(names)
    assert (found["Project X"], found["C"], found["日本語"]) == ("project-x", "c", "日本語")
    assert [found[it].startswith("c-") for it in ("C++", "C#")] == [True, True]


@pytest.mark.spec("names.id.suffix-from-key")
def test_an_entity_made_again_in_the_same_situation_has_the_same_id(client: Client) -> None:
    for name in ("C", "C++", "C#"):
        client.relate(name, "IS_A", "Language")
    before = ids(client)
    second = client.node("C++")["id"]
    client.call("graph_delete", entity_id=second)
    client.relate("C++", "IS_A", "Language")
    assert client.node("C++")["id"] == second
    assert ids(client) == before


@pytest.mark.spec("names.relation.one-current", "names.relation.superseded-stay")
def test_a_pair_has_one_current_relation_of_a_type_and_keeps_the_superseded_ones(client: Client) -> None:
    for month, employer in enumerate(["Acme", "Globex", "Acme", "Globex", "Acme"], start=1):
        client.relate("Ada", "WORKS_AT", employer, valid_at=f"2025-0{month}-01")
        client.relate("ada", "works at", employer.lower())
    versions = client.around("Ada", max_hops=1, current_only=False)["edges"]
    assert sorted((it["to"], it["invalid_at"] is None) for it in versions) == [
        ("acme", False),
        ("acme", False),
        ("acme", True),
        ("globex", False),
        ("globex", False),
    ]


@pytest.mark.spec("names.key.casefold", "names.key.nfc", "names.id.never-empty")
@given(name=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(lambda it: it.strip()))
def test_whatever_the_name_it_is_found_again(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    clock = Clock()
    config = load_config({}, tmp_path_factory.getbasetemp() / "names")
    client = Client(build_services(config, ReferenceStore(), clock=clock), clock)
    if not " ".join(c for c in name if c.isprintable()).strip():
        return  # controls alone are no name
    made = client.relate(name, "IS", "Thing named")
    assert made["edge"]["from"]
    assert client.relate(name, "IS", "Thing named")["created_entities"] == []
