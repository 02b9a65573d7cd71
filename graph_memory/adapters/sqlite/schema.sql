-- The tables of both families, of ingest and of upkeep. Text indexes are made per tenant: see text_index.sql.
--
-- Instants are microseconds since 1970-01-01T00:00Z. Objects are JSON text. Every row has its tenant.
-- No number that fades or is counted (weight, confidence, decayed_at, access counts) stands in an index: it would make
-- forgetting ten times slower to save milliseconds (docs/performance.md).

pragma application_id = 0x474d656d;

create table database (
    id text not null,
    created_at integer not null
) strict;

create table tenants (
    pk integer primary key autoincrement,
    name text not null unique,
    last_memory_id integer not null default 0
) strict;

------------------------------------------------------------------------------------------------------------------------
-- The graph

create table entities (
    pk integer primary key,
    tenant integer not null,
    id text not null,
    type text not null,
    type_key text not null,
    name text not null,
    name_key text not null,
    confidence real not null,
    created_at integer not null,
    last_seen integer not null,
    decayed_at integer,
    mention_count integer not null,
    is_exempt integer not null,
    source_file text,
    properties text not null
) strict;

create unique index entities_id on entities (tenant, id);
create unique index entities_key on entities (tenant, name_key, type_key);
create index entities_type on entities (tenant, type_key);

create table aliases (
    pk integer primary key,
    tenant integer not null,
    entity integer not null references entities (pk) on delete cascade,
    name text not null,
    name_key text not null
) strict;

create unique index aliases_entity on aliases (entity, name_key, tenant);
create index aliases_name on aliases (tenant, name_key);

-- An end belongs to one tenant, so what begins with an end needs no tenant before it.
create table relations (
    pk integer primary key,
    tenant integer not null,
    id text not null,
    source integer not null references entities (pk),
    target integer not null references entities (pk),
    type text not null,
    type_key text not null,
    weight real not null,
    ingested_at integer not null,
    last_confirmed integer not null,
    valid_at integer,
    invalid_at integer,
    decayed_at integer,
    source_type text not null,
    session text,
    transcript text,
    file text,
    memory_id integer,
    -- '' while it holds, else the id: one index finds every version of a key and lets one of them be current. Not a
    -- generated column, which SQLite would not read from an index.
    past_id text not null check (past_id = iif(invalid_at is null, '', id)),
    properties text not null
) strict;

create unique index relations_id on relations (tenant, id);
create unique index relations_key on relations (source, type_key, target, past_id, tenant);
create index relations_target on relations (target, past_id, source);
create index relations_type on relations (tenant, type_key, past_id);

create table entity_evidence (
    pk integer primary key,
    tenant integer not null,
    subject integer not null references entities (pk) on delete cascade,
    kind text not null,
    amount real not null,
    at integer not null,
    source_type text not null,
    session text,
    transcript text,
    file text,
    memory_id integer,
    text text
) strict;

create index entity_evidence_subject on entity_evidence (subject);
create index entity_evidence_session on entity_evidence (tenant, session) where session is not null;
create index entity_evidence_file on entity_evidence (tenant, file) where file is not null;
create index entity_evidence_memory on entity_evidence (tenant, memory_id) where memory_id is not null;

create table relation_evidence (
    pk integer primary key,
    tenant integer not null,
    subject integer not null references relations (pk) on delete cascade,
    kind text not null,
    amount real not null,
    at integer not null,
    source_type text not null,
    session text,
    transcript text,
    file text,
    memory_id integer,
    text text
) strict;

create index relation_evidence_subject on relation_evidence (subject);
create index relation_evidence_session on relation_evidence (tenant, session) where session is not null;
create index relation_evidence_file on relation_evidence (tenant, file) where file is not null;
create index relation_evidence_memory on relation_evidence (tenant, memory_id) where memory_id is not null;

------------------------------------------------------------------------------------------------------------------------
-- Memories. A tenant counts its own: the key in the file is (tenant - 1) * 2^40 + the id that everybody sees, which for
-- the first tenant, the owner of the machine, is the id itself. Ids are never used again. The long columns come last,
-- so that a scan of the others stays short.

create table memories (
    id integer primary key,
    tenant integer not null,
    project_id text not null,
    title text not null,
    title_key text not null,
    slug text not null,
    category text not null,
    layer text not null,
    lifecycle text not null,
    status text not null,
    source text not null,
    session_id text,
    confidence real not null,
    importance_score real not null,
    boost real not null,
    created_at integer not null,
    updated_at integer not null,
    accessed_at integer,
    access_count integer not null,
    expires_at integer,
    content_key text,
    source_file text,
    is_abandoned integer not null,
    -- What only the text index reads: the project as one word, the tags, and the runs of scripts without spaces.
    scope text not null,
    tag_words text not null,
    summary text,
    content text not null,
    runs text not null
) strict;

create unique index memories_title on memories (tenant, title_key, project_id);
create unique index memories_slug on memories (tenant, slug, project_id);
create unique index memories_content on memories (tenant, content_key) where content_key is not null;
create index memories_created on memories (tenant, created_at);
create index memories_updated on memories (tenant, updated_at);
create index memories_facets on memories (tenant, project_id, status, layer, lifecycle, category);
create index memories_session on memories (tenant, session_id) where session_id is not null;
create index memories_file on memories (tenant, source_file) where source_file is not null;

create table memory_tag (
    memory_id integer not null references memories (id) on delete cascade,
    tag text not null,
    place integer not null,
    tenant integer not null,
    primary key (memory_id, tag)
) strict, without rowid;

create table memory_versions (
    pk integer primary key,
    tenant integer not null,
    memory_id integer not null references memories (id) on delete cascade,
    title text not null,
    content text not null,
    replaced_at integer not null
) strict;

create index memory_versions_memory on memory_versions (memory_id, replaced_at);

create table mentions (
    memory_id integer not null references memories (id) on delete cascade,
    entity integer not null references entities (pk) on delete cascade,
    tenant integer not null,
    created_at integer not null,
    primary key (memory_id, entity)
) strict, without rowid;

create index mentions_entity on mentions (entity, memory_id);

create table open_links (
    memory_id integer not null references memories (id) on delete cascade,
    target_key text not null,
    tenant integer not null,
    target text not null,
    is_ambiguous integer not null,
    primary key (memory_id, target_key)
) strict, without rowid;

create index open_links_target on open_links (tenant, target_key);

create table synapses (
    pk integer primary key,
    tenant integer not null,
    source_id integer not null references memories (id) on delete cascade,
    target_id integer not null references memories (id) on delete cascade,
    connection_type text not null,
    weight real not null,
    created_at integer not null,
    updated_at integer not null,
    decayed_at integer,
    accessed_at integer,
    access_count integer not null,
    cycle_access_count integer not null
) strict;

create unique index synapses_key on synapses (source_id, target_id, connection_type, tenant);
create index synapses_target on synapses (target_id);

create table decay_matrix (
    tenant integer not null,
    source_layer text not null,
    target_layer text not null,
    connection_type text not null,
    decay_rate real not null,
    primary key (tenant, source_layer, target_layer, connection_type)
) strict, without rowid;

-- `version` depends on `terms` alone, so that a set read within a write that failed is still the right one.
create table common_terms (
    tenant integer primary key,
    version text not null,
    terms text not null
) strict;

------------------------------------------------------------------------------------------------------------------------
-- Ingest

create table ingest_items (
    pk integer primary key,
    tenant integer not null,
    id text not null,
    content_key text not null,
    path text not null,
    state text not null,
    size integer not null,
    queued_at integer not null,
    updated_at integer not null,
    reason text,
    memory_ids text not null,
    entity_count integer not null,
    relation_count integer not null,
    -- The cursor that the document's metadata holds, for cloud sessions alone.
    cursor_session text,
    cursor_through_at integer,
    meta text not null
) strict;

create unique index ingest_items_id on ingest_items (tenant, id);
create index ingest_items_content on ingest_items (tenant, content_key);
create index ingest_items_path on ingest_items (tenant, path);
create index ingest_items_state on ingest_items (tenant, state, queued_at);
create index ingest_items_cursor on ingest_items (tenant, cursor_session, cursor_through_at)
where cursor_session is not null;

create table transcript_cursors (
    tenant integer not null,
    path text not null,
    fingerprint text not null,
    offset integer not null,
    size integer not null,
    updated_at integer not null,
    session_id text,
    state text not null,
    primary key (tenant, path)
) strict;

create table learned (
    tenant integer not null,
    content_key text not null,
    memory_id integer not null,
    primary key (tenant, content_key)
) strict, without rowid;

create index learned_memory on learned (tenant, memory_id);

create table tombstones (
    tenant integer not null,
    content_key text not null,
    reason text not null,
    forgotten_at integer not null,
    primary key (tenant, content_key)
) strict, without rowid;

------------------------------------------------------------------------------------------------------------------------
-- Upkeep

create table job_runs (
    tenant integer not null,
    job text not null,
    started_at integer not null,
    status text not null,
    ended_at integer,
    error text,
    result text not null,
    primary key (tenant, job, started_at)
) strict;

create table merges (
    tenant integer not null,
    id text not null,
    source_id text not null,
    target_id text not null,
    merged_at integer not null,
    inverse text not null,
    primary key (tenant, id)
) strict;

create table vectors (
    tenant integer not null,
    owner text not null,
    owner_id text not null,
    model_id text not null,
    components blob not null,
    primary key (tenant, owner, owner_id, model_id)
) strict;

create table audit_outbox (
    seq integer primary key autoincrement,
    tenant integer not null,
    id text not null,
    event text not null,
    at integer not null,
    data text not null
) strict;

create unique index audit_outbox_id on audit_outbox (tenant, id);
