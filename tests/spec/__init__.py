"""What the product must do: every rule with a stable id, and the tests that prove it.

The rules stand in `areas/`, one module for each. A test names what it proves with `@pytest.mark.spec("id", ...)`; the
ids are literal, since `usage` reads them from the files. `make spec` prints what is proved and what is not.

Work that delivers a deferred rule turns its `deferred(...)` into `required(...)` in the change that brings the test.
A rule is never dropped: what the product does otherwise becomes `diverged(...)`, with the reason and the id that holds
instead.
"""
