"""memory_add, and the other writing tools of the memory family."""

from tests.spec.model import Requirement, Theme, deferred, required, ruling, seed_memory

PIPELINE = seed_memory("memory_add write pipeline")
ARGS = ruling("The memory family: arguments")
RULING = ruling("Rulings on the memory family")
QUIET = seed_memory("memory_tag_add / memory_tag_remove")
OTHERWISE = ruling("Where nothing else is said")
OWN = ruling("Rulings on the graph family: Our own tools")
IMPORT = seed_memory("memory_import_from_mem_sol")

REQUIREMENTS: tuple[Requirement, ...] = (
    # memory_add
    required(
        "memory_add.required",
        ARGS,
        "`category`, `title` and `content` are required; a missing one is refused by name.",
    ),
    required("memory_add.empty-refused", ARGS, "An empty or blank title is refused by name; nothing is stored."),
    required(
        "memory_add.result",
        PIPELINE,
        "The reply has id, wikilinks_resolved, broken_wikilinks and auto_links_created.",
    ),
    required(
        "memory_add.order",
        PIPELINE,
        "One call inserts the memory, its tags, its wikilinks and its auto links and enforces the caps, in one "
        "transaction.",
    ),
    required(
        "memory_add.atomic",
        PIPELINE,
        "A call that fails at any step leaves neither memory nor tag nor synapse.",
    ),
    required("memory_add.default.layer", ARGS, "`layer` is episodic by default."),
    required("memory_add.default.project_id", ARGS, "`project_id` is `_global` by default."),
    required("memory_add.default.lifecycle", ARGS, "`lifecycle` is milestone by default."),
    required("memory_add.default.confidence", ARGS, "`confidence` is 1.0 by default."),
    required("memory_add.default.importance_score", ARGS, "`importance_score` is 1.0 by default."),
    required("memory_add.default.source", ARGS, "`source` is session by default."),
    required("memory_add.default.status", ARGS, "A new memory is active, with boost 0 and access_count 0."),
    required(
        "memory_add.optional-kept",
        ARGS,
        "summary, session_id and expires_at are optional and come back from `memory_get` as given.",
    ),
    required("memory_add.tags", PIPELINE, "`tags` are stored as rows, each once, and come back as a list."),
    required(
        "memory_add.title-taken",
        RULING,
        "A title that the project already has is a `conflict` that names the existing memory's id; nothing is stored "
        "or changed.",
    ),
    # later
    deferred(
        "memory_update.fields",
        ARGS,
        "`memory_update` takes id and any of title, content, summary, tags, category, project_id, layer, lifecycle, "
        "confidence and importance_score; what is not given stays.",
        Theme.MEMORY_FAMILY,
    ),
    deferred("memory_update.title", ARGS, "A new title makes a new slug.", Theme.MEMORY_FAMILY),
    deferred(
        "memory_update.content",
        ARGS,
        "New content removes wikilinks no longer written, adds new ones and auto-links again.",
        Theme.MEMORY_FAMILY,
    ),
    deferred(
        "memory_supersede.both",
        ARGS,
        "`memory_supersede` of old_id by new_id with a reason writes both memories or neither; the two must differ.",
        Theme.MEMORY_FAMILY,
    ),
    deferred("memory_mark.status", ARGS, "`memory_mark` sets a status with a reason.", Theme.MEMORY_FAMILY),
    deferred(
        "memory_boost.delta",
        ARGS,
        "`memory_boost` adds delta and answers the old and the new boost.",
        Theme.MEMORY_FAMILY,
    ),
    deferred("memory_boost.bounds", OTHERWISE, "A boost stays within -10 to 10.", Theme.MEMORY_FAMILY),
    deferred(
        "memory_tag_add.quiet",
        QUIET,
        "Adding a tag touches neither links nor auto links nor access counters.",
        Theme.MEMORY_FAMILY,
    ),
    deferred("memory_tag_add.idempotent", QUIET, "Adding a tag again answers `added: false`.", Theme.MEMORY_FAMILY),
    deferred(
        "memory_tag_remove.quiet",
        QUIET,
        "Removing a tag touches neither links nor auto links nor access counters.",
        Theme.MEMORY_FAMILY,
    ),
    deferred(
        "memory_tag_remove.idempotent",
        QUIET,
        "Removing a tag that is not there answers `removed: false`.",
        Theme.MEMORY_FAMILY,
    ),
    required(
        "memory_forget.short-form",
        OWN,
        "`memory_forget(id, reason)` erases one memory as `graph_forget` does.",
    ),
    # import from the older system
    deferred(
        "memory_import.arguments",
        ARGS,
        "source_db_path, dry_run (false), default_layer (episodic), default_importance (1.0); the reply has counts, "
        "errors and an id map.",
        Theme.MEMORY_FAMILY,
    ),
    deferred("memory_import.source-read-only", ARGS, "The source database is opened read-only.", Theme.MEMORY_FAMILY),
    deferred(
        "memory_import.field-mapping",
        IMPORT,
        "project becomes project_id, relevance_score becomes importance_score, JSON tags become rows, source becomes "
        "import.",
        Theme.MEMORY_FAMILY,
    ),
    deferred(
        "memory_import.idempotent",
        IMPORT,
        "A second import adds nothing: project and title identify a memory.",
        Theme.MEMORY_FAMILY,
    ),
    deferred(
        "memory_import.forward-references",
        IMPORT,
        "Wikilinks to memories that come later in the source are resolved.",
        Theme.MEMORY_FAMILY,
    ),
    deferred(
        "memory_import.links",
        IMPORT,
        "Old links become wikilink synapses; their former type labels are not kept.",
        Theme.MEMORY_FAMILY,
    ),
    deferred("memory_import.no-autolink", IMPORT, "Importing does not auto-link; that waits.", Theme.MEMORY_FAMILY),
    deferred(
        "memory_import.v1-tables",
        ARGS,
        "The tables `memory` and `memory_links` of the first version are read with all their columns.",
        Theme.MEMORY_FAMILY,
    ),
)
