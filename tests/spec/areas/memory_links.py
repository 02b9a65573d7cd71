"""Wikilinks, auto links, the caps on synapses."""

from tests.spec.model import Requirement, Theme, deferred, required, ruling, seed_memory

PURPOSE = seed_memory("Purpose")
PIPELINE = seed_memory("memory_add write pipeline")
RULING = ruling("Rulings on the memory family")
LOCKED = seed_memory("Locked decisions")
OUT = seed_memory("Out of scope")
ARGS = ruling("The memory family: arguments")

REQUIREMENTS: tuple[Requirement, ...] = (
    # resolving
    required("wikilinks.by-id", RULING, "`[[12]]` leads to the memory with id 12."),
    required("wikilinks.by-title", RULING, "`[[Some Title]]` links to the memory of that title."),
    required("wikilinks.by-slug", RULING, "`[[some-slug]]` links to the memory of that slug."),
    required(
        "wikilinks.order",
        RULING,
        "Id is tried first, then title, then slug: `[[5]]` is memory 5 even if another is titled `5`.",
    ),
    required("wikilinks.alias", RULING, "`[[Title|shown text]]` resolves as `[[Title]]`."),
    required("wikilinks.heading", RULING, "`[[Title#Heading]]` resolves as `[[Title]]`."),
    required("wikilinks.block", RULING, "`[[Title#^block]]` and `[[Title^block]]` resolve as `[[Title]]`."),
    required("wikilinks.embed", RULING, "`![[Title]]` links like `[[Title]]`."),
    required("wikilinks.code-span", RULING, "A link inside a code span is none."),
    required("wikilinks.code-fence", RULING, "A link inside a fenced code block is none."),
    required(
        "wikilinks.same-project-first",
        RULING,
        "Among several matches the one in the memory's own project is taken.",
    ),
    required("wikilinks.global-second", RULING, "Without one there, the match in `_global` is taken."),
    required(
        "wikilinks.other-project-single",
        RULING,
        "Failing both, another project's memory is taken only where nothing else matches the link.",
    ),
    required(
        "wikilinks.ambiguous",
        RULING,
        "Several matches in other projects leave the link broken and reported as ambiguous.",
    ),
    required(
        "wikilinks.broken-reported",
        PIPELINE,
        "Links that resolve to nothing are listed in `broken_wikilinks`; `wikilinks_resolved` counts the others.",
    ),
    required(
        "wikilinks.late",
        RULING,
        "Adding the target later turns a broken link into a synapse without further action.",
    ),
    required("wikilinks.late-by-ingest", RULING, "A broken link also resolves when ingest brings its target."),
    required(
        "wikilinks.entity",
        RULING,
        "A link that names a graph entity instead of a memory is stored as a `mention` of that entity.",
    ),
    required("wikilinks.self", ARGS, "A memory that links to itself gets no synapse."),
    # weight and direction
    required("wikilinks.direction", LOCKED, "The synapse goes from the linking memory to the linked one."),
    required("wikilinks.weight", RULING, "A wikilink starts at weight 1.0."),
    required(
        "wikilinks.written-again",
        RULING,
        "A link that stands in the text once more adds 0.5 (twice: 1.5); saving unchanged text again adds nothing.",
    ),
    required("wikilinks.cap", RULING, "A wikilink never weighs more than 5."),
    # rendering
    required("wikilinks.rendered.id", RULING, "Where content is shown, `[[12]]` stands with the title of memory 12."),
    required(
        "wikilinks.rendered.slug",
        RULING,
        "Where content is shown, `[[some-slug]]` stands with its target's title.",
    ),
    required(
        "wikilinks.rendered.stored-as-written",
        RULING,
        "What is stored stays as written: a target renamed later shows its new title.",
    ),
    required(
        "wikilinks.rendered.everywhere",
        LOCKED,
        "Rendering holds in every tool that shows content: get, search snippets, recent and others.",
    ),
    # auto links
    required(
        "autolink.on-add",
        PURPOSE,
        "A new memory is linked by `bm25_auto` synapses to memories of similar text.",
    ),
    required("autolink.same-project", RULING, "Auto links stay within one project."),
    required("autolink.at-most-five", RULING, "Adding a memory makes at most five auto links."),
    required("autolink.half-of-best", RULING, "A candidate scoring under half of the best one is not linked."),
    required(
        "autolink.weight",
        RULING,
        "An auto link weighs a tenth of the absolute score, never under 0.2 and never over 1.5.",
    ),
    required("autolink.found-again", RULING, "A pair found again gains 0.2, up to the cap of 5."),
    required(
        "autolink.informative-terms",
        RULING,
        "The query is made of the content's rarest terms in the store: common words in front do not crowd out a rare "
        "one at the end.",
    ),
    required(
        "autolink.any-script",
        RULING,
        "Text in any script is linked: two notes in the same Japanese or Cyrillic words find each other.",
    ),
    required(
        "autolink.operators-are-words",
        RULING,
        "AND, OR, NOT, quotes and other query marks in a text do not hinder linking.",
    ),
    required(
        "autolink.count-reported",
        PIPELINE,
        "`auto_links_created` is the number of such synapses made by the call.",
    ),
    required("autolink.not-on-read", OUT, "Reading and searching make no links."),
    # caps
    required(
        "synapse-cap.out",
        RULING,
        "A memory has at most 50 outgoing synapses, all kinds counted, wikilinks beyond excepted.",
    ),
    required(
        "synapse-cap.in",
        RULING,
        "A memory has at most 50 incoming synapses, all kinds counted, wikilinks beyond excepted.",
    ),
    required(
        "synapse-cap.drops-weakest-auto",
        RULING,
        "What goes over a cap is taken off the `bm25_auto` synapses, weakest first.",
    ),
    required(
        "synapse-cap.on-insert",
        LOCKED,
        "Both caps hold when the writing call has been answered, at both ends of each new link.",
    ),
    required(
        "synapse-cap.wikilinks-kept",
        RULING,
        "Wikilinks are neither dropped nor refused: a hub that 120 notes link to has 120.",
    ),
    # later
    deferred(
        "memory_synapse_create.arguments",
        ARGS,
        "source_id, target_id, connection_type and weight (1.0, within 0 to 5); again adds up to 5; a link to itself "
        "is refused.",
        Theme.MEMORY_FAMILY,
    ),
    deferred(
        "memory_synapse_traverse.arguments",
        ARGS,
        "id, direction (both), connection_type, min_weight (0) and limit (50, at most 200).",
        Theme.MEMORY_FAMILY,
    ),
    deferred(
        "memory_spread_stats.result",
        ARGS,
        "Totals, by type, by layer with mean in and out, the 100 best linked, and orphans.",
        Theme.MEMORY_FAMILY,
    ),
)
