"""Claude Code's transcripts: from the bytes of a session's file to its turns.

Nothing here knows a store. The way through the package, each step a module:

    files         which transcripts there are, and of what kind
    lines         a file's lines, from a byte offset
    values        a line's JSON values, mended where a crash or an editor broke it
    speech        what in a value was said, and why the rest wasn't
    messages      the file as messages, and the links between its lines
    branches      which of them a rewind left behind
    queued        text typed while the assistant worked
    conversation  where it stands: the open prompt, its branch, the queue
    keys          names derived from content
    turns         one prompt with the text that answers it, built while the file grows
    pages         the messages of a whole file, a page at a time
    own           this product's own work, which is not learned again
"""
