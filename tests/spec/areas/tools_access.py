"""Who may call what: tenants, the admin, files a client names, and the list of tools."""

from tests.spec.model import Requirement, Theme, deferred, diverged, required, ruling, seed_graph, seed_memory

ALL = ruling("All tools")
COUNT = ruling("Rulings on the graph family: Count")
ADMIN = ruling("Rulings on the graph family: Admin tenant")
SEED = seed_graph("Overview")
REG = seed_graph("Registration")
INGEST = seed_graph("graph_ingest")
MEMTOOLS = seed_memory("Tools (27)")
WIRE = ruling("The tools: introduction")

REQUIREMENTS: tuple[Requirement, ...] = (
    # principal
    required(
        "access.principal.every-call",
        ALL,
        "Every tool call carries a principal (a tenant, and whether it is the admin) from the transport to the store.",
    ),
    required(
        "access.principal.required-by-store",
        ALL,
        "No store primitive can be called without a tenant; there is no default one.",
    ),
    required(
        "access.tenant.isolation",
        ALL,
        "What one tenant wrote is not readable, countable, searchable or changeable by another through any tool.",
    ),
    required("access.stdio.local-admin", ADMIN, "A client connected over stdio acts as the admin of this machine."),
    deferred(
        "access.http.tenant-from-token",
        ADMIN,
        "Over HTTP the tenant is the one in the bearer token.",
        Theme.REMOTE,
    ),
    # admin only
    required(
        "access.admin-only.ingest-file",
        ALL,
        "`graph_ingest` with `file_path` by a caller who is not admin is refused, and nothing is queued.",
    ),
    required(
        "access.admin-only.ingest-content",
        INGEST,
        "`graph_ingest` with `content` by a caller who is not admin is refused, and nothing is queued.",
    ),
    required(
        "access.admin-only.read-transcript",
        ALL,
        "`graph_read_transcript` is refused to callers who are not admin.",
    ),
    required(
        "access.admin-only.export",
        ALL,
        "`graph_export` is refused to callers who are not admin, and no file is made.",
    ),
    required(
        "access.admin-only.import",
        ALL,
        "`graph_import` is refused to callers who are not admin, dry runs too.",
    ),
    deferred(
        "access.admin-only.cypher",
        ALL,
        "`graph_cypher` is refused to callers who are not admin.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "access.admin-only.reembed-all",
        ALL,
        "Re-embedding the entities of all tenants is the admin's alone; others reach their own tenant.",
        Theme.SEARCH,
    ),
    required(
        "access.admin-only.forget",
        ALL,
        "`graph_forget` is refused to callers who are not admin.",
    ),
    deferred("access.admin-only.sql", ALL, "Every `sql_*` tool is refused to callers who are not admin.", Theme.SQL),
    deferred(
        "access.admin-only.mem-sol-import",
        ALL,
        "`memory_import_from_mem_sol` is refused to callers who are not admin.",
        Theme.MEMORY_FAMILY,
    ),
    # files named by clients
    required("access.files.projects-folder", ALL, "A client may name files under the transcripts' projects folder."),
    required("access.files.product-home", ALL, "A client may name files under the product's home folder."),
    required("access.files.allowed-dirs", ALL, "A client may name files under each folder of `ingest.allowed_dirs`."),
    required("access.files.default-user-home", ALL, "`ingest.allowed_dirs` defaults to the user's home folder."),
    required(
        "access.files.no-hidden",
        ALL,
        "Under the default of `ingest.allowed_dirs` files in hidden folders (`~/.ssh/x`) are refused.",
    ),
    required(
        "access.files.links-resolved",
        ALL,
        "Symbolic links and `..` are resolved before the check: a link inside an allowed folder to a file outside is "
        "refused.",
    ),
    required(
        "access.files.refused-by-name",
        ALL,
        "A path outside the allowed folders (`/etc/passwd`) is refused with that path in the text; nothing is read or"
        " copied.",
    ),
    required("access.files.read-transcript", ALL, "The same rule covers `file_path` of `graph_read_transcript`."),
    required("access.files.import", ALL, "The same rule covers `file` of `graph_import`."),
    deferred(
        "access.files.mem-sol-import",
        ALL,
        "The same rule covers `source_db_path` of `memory_import_from_mem_sol`.",
        Theme.MEMORY_FAMILY,
    ),
    # the list
    required(
        "catalogue.size.inputs",
        ALL,
        "Names, descriptions and input schemas of the whole tool list take less than 36,000 bytes of JSON.",
    ),
    required(
        "catalogue.size.with-outputs",
        ALL,
        "With the output schemas the whole tool list takes less than 72,000 bytes of JSON.",
    ),
    required(
        "catalogue.descriptions",
        ALL,
        "Every tool's description says when to call it, what comes back and, where one exists, what to call instead.",
    ),
    required(
        "catalogue.option-tools",
        ALL,
        "`graph-memory mcp --tools graph` lists the graph family alone; `graph,memory,sql` are the groups, any subset"
        " works, an unknown one is refused by name.",
    ),
    required(
        "catalogue.config-tools",
        ALL,
        "`mcp.tools` in the configuration does what `--tools` does, and the option wins.",
    ),
    required(
        "catalogue.instructions",
        ALL,
        "The server's `instructions` explain the memory to a model in at most ten lines and name three tools to start"
        " with, all of them listed.",
    ),
    required(
        "catalogue.wire-names",
        WIRE,
        "Each delivered tool has the name, argument names and default values that its document gives, so that old "
        "clients need no change.",
    ),
    required(
        "catalogue.wire-results",
        WIRE,
        "Each delivered tool's result has every field its document shows, under the same name.",
    ),
    deferred(
        "catalogue.graph.seed-tools",
        COUNT,
        "All 22 graph tools that the seed defines are listed.",
        Theme.GRAPH_FAMILY,
    ),
    deferred(
        "catalogue.graph.added-tools",
        COUNT,
        "`graph_merge`, `graph_import`, `graph_history` and `graph_forget` are listed beside them.",
        Theme.GRAPH_FAMILY,
    ),
    diverged(
        "catalogue.graph.twenty",
        SEED,
        "The graph family has twenty tools.",
        "The seed's headline counts twenty while its text defines 22; all 22 and our four are listed "
        "(catalogue.graph.seed-tools, catalogue.graph.added-tools).",
    ),
    deferred(
        "catalogue.memory.all-27",
        MEMTOOLS,
        "All 27 tools of the second seed are listed: 4 SQL, 4 orientation, 5 search, 7 write, 6 network, 1 import.",
        Theme.MEMORY_FAMILY,
    ),
    # the service
    required(
        "service.no-language-model",
        SEED,
        "No tool call, job or ingest calls a language model; the product works without any API key and depends on no "
        "model vendor's SDK.",
    ),
    diverged(
        "service.thin-wrapper",
        SEED,
        "The server is a thin shell around a Neo4j database that must be running.",
        "The embedded store is the default and the server needs no database service; Neo4j is an option.",
    ),
    required(
        "service.stdio",
        REG,
        "A client on the same machine registers a command and talks to it over stdio; stdout carries JSON-RPC alone.",
    ),
    diverged(
        "service.docker-registration",
        REG,
        "Local clients register the server as a `docker exec` of a node script.",
        "The product is a Python application; clients register `graph-memory mcp`, no container is needed.",
    ),
    deferred(
        "service.remote.https",
        REG,
        "Clients on other devices reach the tools over HTTPS at `/mcp`.",
        Theme.REMOTE,
    ),
    deferred(
        "service.remote.oauth",
        REG,
        "Remote callers authenticate with OAuth 2.1 bearer tokens; without a valid one nothing is answered.",
        Theme.REMOTE,
    ),
)
