-- The text indexes of one tenant. Each tenant has its own: in a shared one, how often other tenants use a word would
-- show in everybody's scores. $tenant is the tenant's key in the file, $index what ends the names of its indexes.

create view memories_text$index as
select id, title, content, tag_words as tags, scope, runs from memories where tenant = $tenant;

create virtual table memories_fts$index using fts5 (
    title, content, tags, scope, runs,
    content = 'memories_text$index', content_rowid = 'id',
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
);

-- The scope only restricts: with any weight, a project's name would count as a word.
insert into memories_fts$index (memories_fts$index, rank) values ('rank', 'bm25(4.0, 1.0, 2.0, 0.0, 1.0)');

create virtual table memories_words$index using fts5vocab (memories_fts$index, 'row');

create trigger memories_fts_added$index after insert on memories when new.tenant = $tenant
begin
    insert into memories_fts$index (rowid, title, content, tags, scope, runs)
    values (new.id, new.title, new.content, new.tag_words, new.scope, new.runs);
end;

create trigger memories_fts_deleted$index after delete on memories when old.tenant = $tenant
begin
    insert into memories_fts$index (memories_fts$index, rowid, title, content, tags, scope, runs)
    values ('delete', old.id, old.title, old.content, old.tag_words, old.scope, old.runs);
end;

create trigger memories_fts_changed$index after update of title, content, tag_words, scope, runs on memories
when new.tenant = $tenant and (
    new.title <> old.title or new.content <> old.content or new.tag_words <> old.tag_words
    or new.scope <> old.scope or new.runs <> old.runs
)
begin
    insert into memories_fts$index (memories_fts$index, rowid, title, content, tags, scope, runs)
    values ('delete', old.id, old.title, old.content, old.tag_words, old.scope, old.runs);
    insert into memories_fts$index (rowid, title, content, tags, scope, runs)
    values (new.id, new.title, new.content, new.tag_words, new.scope, new.runs);
end;

create virtual table entities_fts$index using fts5 (
    name, aliases, properties, runs,
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
);

insert into entities_fts$index (entities_fts$index, rank) values ('rank', 'bm25(4.0, 4.0, 1.0, 1.0)');

-- Keys of names and aliases, as they are, with a blank on each side: short names have runs of three letters, too.
create virtual table entities_runs$index using fts5 (names, tokenize = 'trigram case_sensitive 1', detail = none);

create virtual table entities_parts$index using fts5vocab (entities_runs$index, 'row');
