"""What a dropped document becomes: formats, title, memories, chunks, extraction, redaction."""

from tests.spec.model import Requirement, design, required, ruling, seed_graph

INGEST = seed_graph("graph_ingest")
FORMATS = design("Formats")
OTHERWISE = ruling("Where nothing else is said")
ALL = ruling("All tools")
WEIGHTS = ruling("Rulings on the graph family: Weights where none is given")

REQUIREMENTS: tuple[Requirement, ...] = (
    # formats
    required(
        "document.format.md",
        INGEST,
        "A .md file is ingested with its headings, links and front matter understood.",
    ),
    required("document.format.txt", INGEST, "A .txt file is ingested as plain text."),
    required("document.format.json", INGEST, "A .json file is ingested; its texts are found by search."),
    required(
        "document.format.html",
        INGEST,
        "A .html file is ingested as its visible text: no tags, scripts or styles.",
    ),
    required("document.format.srt", INGEST, "A .srt file is ingested as what is spoken: no cue numbers, no timings."),
    required(
        "document.format.vtt",
        INGEST,
        "A .vtt file is ingested as what is spoken: no header, cue settings or timings.",
    ),
    required("document.format.pdf", FORMATS, "A .pdf file is ingested as the text of its pages."),
    required("document.format.docx", FORMATS, "A .docx file is ingested with its headings."),
    required("document.format.xlsx", FORMATS, "A .xlsx file is ingested sheet by sheet, each row with its names."),
    required("document.format.pptx", FORMATS, "A .pptx file is ingested with titles and speaker's notes."),
    required("document.format.epub", FORMATS, "A .epub file is ingested in its order, with title and author."),
    required(
        "document.format.eml",
        FORMATS,
        "A .eml file is ingested as headers, parts of text and the names of attachments.",
    ),
    required("document.format.csv", FORMATS, "A .csv file is ingested row by row, each with its names."),
    required(
        "document.format.damaged",
        FORMATS,
        "What is damaged, protected, scanned or of another kind than its name says fails with that reason.",
    ),
    required(
        "document.format.bounded",
        FORMATS,
        "Reading such a file is bounded in time, memory and what it yields; nothing it does harms the daemon.",
    ),
    required(
        "document.format.offline",
        FORMATS,
        "Reading such a file reaches no network, no program, no other file and no secret.",
    ),
    required(
        "document.format.extra-missing",
        FORMATS,
        "Without the extra the reason says what to install, and `retry` takes the document up afterwards.",
    ),
    required(
        "document.format.other",
        INGEST,
        "A file of a kind that can't be read (binary under .md too) goes to `failed/` with that reason.",
    ),
    required(
        "document.bytes-untouched",
        INGEST,
        "The user's file is never rewritten: in `completed/` it has the bytes it had in `pending/`.",
    ),
    # title
    required("document.title.front-matter", OTHERWISE, "The title is that of the front matter if there is one."),
    required("document.title.heading", OTHERWISE, "Without one it is the first heading."),
    required("document.title.file-name", OTHERWISE, "Without either it is the file's name."),
    required(
        "document.title.taken",
        OTHERWISE,
        "When the project has other content under that title, the new one's title is followed in brackets by its "
        "folder or a short hash of its content; ingest never ends in a conflict.",
    ),
    required(
        "document.front-matter.broken",
        OTHERWISE,
        "Front matter that can't be parsed stops nothing: the body is ingested and found.",
    ),
    # memories
    required(
        "document.memory.defaults",
        OTHERWISE,
        "An ingested document's memory is episodic, of category context, a milestone, from source import.",
    ),
    required("document.project.sidecar", OTHERWISE, "A document's project_id is the sidecar's if it names one."),
    required("document.project.front-matter", OTHERWISE, "Else it is the front matter's."),
    required("document.project.global", OTHERWISE, "Else it is `_global`."),
    required(
        "document.changed-updates",
        OTHERWISE,
        "A path dropped again with other bytes changes the memory it made before: the id stays, the text is the new "
        "one.",
    ),
    required("document.changed-keeps-history", OTHERWISE, "The replaced text stays readable as history."),
    required("document.chunks.up-to-6000", OTHERWISE, "A text of exactly 6,000 characters is still one memory."),
    required(
        "document.chunks.longer",
        OTHERWISE,
        "A longer text is a parent memory with chunks of about 1,500 characters.",
    ),
    required(
        "document.chunks.boundaries",
        OTHERWISE,
        "Chunks are cut at headings and paragraphs, not inside them where that can be avoided.",
    ),
    required("document.chunks.nothing-lost", OTHERWISE, "Together the chunks hold the whole text."),
    required(
        "document.chunks.parent_child",
        OTHERWISE,
        "The parent is joined to each chunk by a `parent_child` synapse.",
    ),
    required("document.chunks.sequence", OTHERWISE, "Neighbouring chunks are joined by a `sequence` synapse."),
    required(
        "document.chunks.changed",
        OTHERWISE,
        "When a long document changes, no chunk of the old text is found any more as current.",
    ),
    # extraction
    required(
        "extraction.document-entity",
        OTHERWISE,
        "A document becomes an entity that carries its path, from which its `MENTIONS` relations start.",
    ),
    required(
        "extraction.relation-mentions",
        OTHERWISE,
        "What a document or session names is joined to its entity by the relation `MENTIONS`.",
    ),
    required("extraction.repository", OTHERWISE, "Repositories named in a text become entities."),
    required("extraction.path", OTHERWISE, "Code paths named in a text become entities."),
    required("extraction.url", OTHERWISE, "URLs in a text become entities."),
    required("extraction.package", OTHERWISE, "Packages named in a text become entities."),
    required("extraction.tag", OTHERWISE, "Tags (front matter and `#tag`) become entities."),
    required(
        "extraction.person-only-authors",
        OTHERWISE,
        "A Person is made only of somebody who is named as author.",
    ),
    required(
        "extraction.known-entities",
        OTHERWISE,
        "A known entity's name or alias standing as whole words in a text is a mention of it; inside a longer word it"
        " is not.",
    ),
    required(
        "extraction.longest-first",
        OTHERWISE,
        "Of overlapping known names the longest is the mention: `Project X Beta` does not mention `Project X`.",
    ),
    required("extraction.one-boost", OTHERWISE, "A memory boosts an entity once, however often it names it."),
    required(
        "extraction.no-co-occurrence",
        OTHERWISE,
        "Two things that merely stand in one text get no relation to each other.",
    ),
    required(
        "extraction.inferred-weight",
        WEIGHTS,
        "Relations that extraction makes weigh `weights.inferred` (0.3) unless the document overrides it.",
    ),
    required(
        "extraction.late-mentions",
        OTHERWISE,
        "An entity that appears later is, after the background work, also mentioned by the older memories that name "
        "it.",
    ),
    required(
        "extraction.order-free",
        OTHERWISE,
        "Two documents learned in either order leave the same mentions and relations.",
    ),
    required(
        "extraction.deterministic",
        OTHERWISE,
        "Equal input gives equal entities, relations and mentions, without a model.",
    ),
    # redaction
    required(
        "redaction.ingest",
        ALL,
        "Secrets in a document or transcript (API keys, tokens, PEM blocks, bearer headers, password assignments) are"
        " in no stored row, index or file of ours; `[redacted:kind]` stands there.",
    ),
    required(
        "redaction.tools",
        ALL,
        "The same holds for text that a tool stores: content, title and summary of `memory_add`, names, properties "
        "and evidence of `graph_relate`.",
    ),
    required("redaction.sidecar", ALL, "The same holds for what a sidecar or `meta` brings."),
    required(
        "redaction.read-transcript",
        ALL,
        "`graph_read_transcript` redacts what it returns; the transcript file itself is not changed.",
    ),
    required(
        "redaction.same-rules",
        ALL,
        "Stored text and transcripts read go through the same rules: equal text gives equal marks.",
    ),
    required(
        "redaction.harmless-kept",
        ALL,
        "Ordinary text, hashes of commits, UUIDs and code without secrets pass unchanged.",
    ),
)
