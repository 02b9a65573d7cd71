"""Who is who: keys, spellings, public ids, type names and ambiguity."""

from tests.spec.model import Requirement, Theme, deferred, required, ruling, seed_graph

NAMES = ruling("Names and identity")
OTHERWISE = ruling("Where nothing else is said")
PATTERNS = seed_graph("Design Patterns")

REQUIREMENTS: tuple[Requirement, ...] = (
    # entities
    required(
        "names.key.casefold",
        NAMES,
        "Two writes of one type that differ in letter case alone (`Postgres`, `POSTGRES`; by full case folding also "
        "`Straße`, `STRASSE`) leave one entity.",
    ),
    required(
        "names.key.trim",
        NAMES,
        "White space before and after a name takes no part in its key: ` Postgres ` is `Postgres`.",
    ),
    required(
        "names.key.inner-space",
        NAMES,
        "Any run of white space inside a name counts as one space: `Project \\t X` is `Project X`.",
    ),
    required(
        "names.key.nfc",
        NAMES,
        "A composed and a decomposed spelling (`Café` in NFC and NFD) are one entity, and either finds it.",
    ),
    required("names.key.type", NAMES, "One name under two types is two entities."),
    required(
        "names.key.tenant",
        NAMES,
        "One name and type under two tenants is two entities, and neither tenant sees the other's.",
    ),
    required(
        "names.empty.refused",
        NAMES,
        "A name that is empty once trimmed is refused with the argument's name; nothing is written.",
    ),
    required(
        "names.display.first-spelling",
        NAMES,
        "The spelling of the first write is shown for ever; later writes in other spellings do not rename.",
    ),
    required(
        "names.id.slug",
        NAMES,
        "An entity's public id is derived from its name: `Project X` has the id `project-x`.",
    ),
    required(
        "names.id.suffix-only-on-clash",
        NAMES,
        "The id is the bare slug unless another entity of the tenant has it; then a short suffix follows (`C`, `C++`,"
        " `C#`: one bare, two suffixed, three ids).",
    ),
    required(
        "names.id.never-empty",
        NAMES,
        "Names without Latin letters (`日本語`, `你好`, `!!!`) each get a non-empty id of their own.",
    ),
    required(
        "names.id.suffix-from-key",
        OTHERWISE,
        "A suffix is a hash of the key and no counter: made, deleted and made again in the same situation, an entity "
        "has the same id.",
    ),
    required(
        "names.lookup.untyped-single",
        NAMES,
        "A name given without a known type finds the entity of any type when exactly one has that key.",
    ),
    required(
        "names.lookup.ambiguous",
        NAMES,
        "When several types have an untyped name the call is refused as `ambiguous` with the candidates' ids, names "
        "and types, and nothing is written.",
    ),
    # types and relation names
    required(
        "names.type.any-text",
        NAMES,
        "Entity types and relation names of any non-empty Unicode text (hyphens, dots, umlauts, CJK, emoji, `is 50% "
        "of`) are stored and found again under that text.",
    ),
    required(
        "names.type.empty-refused",
        NAMES,
        "An empty or blank entity type or relation name is refused by its argument's name; nothing is written.",
    ),
    required(
        "names.type.at-most-200",
        NAMES,
        "A type or relation name of 200 characters is stored; one of 201 is refused by its argument's name.",
    ),
    required(
        "names.type.is-data",
        NAMES,
        "Type and relation names holding quotes, back-quotes, brackets, SQL or Cypher are stored as plain text; no "
        "other row changes.",
    ),
    required(
        "names.type-key.casefold",
        NAMES,
        "Entity types and relation names are compared NFC-normalised and case-folded: `USES_TECH` and `uses_tech` "
        "make one relation.",
    ),
    required(
        "names.type-key.separators",
        NAMES,
        "In comparing types and relation names a space and a hyphen equal an underscore: `Uses Tech`, `uses-tech` and"
        " `USES_TECH` are one.",
    ),
    required(
        "names.type.seed-spelling",
        NAMES,
        "Names of the seed's vocabulary come back as the seed writes them whatever was given: `person` as `Person`, "
        "`uses tech` as `USES_TECH`.",
    ),
    required(
        "names.type.first-spelling",
        NAMES,
        "Types and relation names outside the seed's vocabulary keep the spelling of their first use.",
    ),
    required(
        "names.type.new-is-searchable",
        NAMES,
        "An entity of a type never seen before (`Banana`) is stored without complaint and found by `graph_query` and "
        "`graph_entities`.",
    ),
    required(
        "names.type.every-type-searched",
        PATTERNS,
        "A search without a type filter covers entities of all types; one with a filter, only that type.",
    ),
    required(
        "names.relation.one-current",
        NAMES,
        "Between one source and one target there is at most one current relation of a type, whoever writes and "
        "however many processes write at once.",
    ),
    required(
        "names.relation.superseded-stay",
        NAMES,
        "Superseded relations remain stored with an `invalid_at`, several per source, type and target if need be.",
    ),
    # the other store
    deferred(
        "names.neo4j.type-label",
        NAMES,
        "On Neo4j an entity's type is also a node label, passed as data.",
        Theme.NEO4J,
    ),
    deferred(
        "names.neo4j.entity-label",
        PATTERNS,
        "On Neo4j every entity node carries `:Entity` beside its type label.",
        Theme.NEO4J,
    ),
)
