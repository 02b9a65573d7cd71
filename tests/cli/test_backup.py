"""`graph-memory export` and `import`."""

from pathlib import Path

from daemon.exits import Exit
from tests.cli.conftest import Run
from tests.cli.ptys import on_terminal


def test_a_backup_goes_into_another_home_and_is_found_there(run: Run, used_home: Path, tmp_path: Path) -> None:
    file = run("export", "--label", "before the move").out.strip()
    assert Path(file).parent == used_home / "backups"
    assert "before-the-move" in file
    other = tmp_path / "other"
    done = run("--home", other, "import", file, "--yes")
    assert done.status == 0
    assert "1 memory" in done.out
    assert run("--home", other, "search", "postgres", "--json").json["count"] == 1


def test_export_tells_what_it_wrote(run: Run, used_home: Path) -> None:
    exported = run("export", "--json").json
    assert Path(exported["file"]).stat().st_size == exported["bytes"]
    assert exported["rows"]["memory"] == 1


def test_keep_bounds_the_backups_without_a_label(run: Run, used_home: Path) -> None:
    run("export", "--label", "stays")
    for _ in range(3):
        assert run("export", "--keep", "1").status == 0
    assert len(list((used_home / "backups").glob("*.jsonl"))) == 2


def test_without_a_terminal_an_import_only_shows_what_it_would_do(run: Run, used_home: Path, tmp_path: Path) -> None:
    file = run("export").out.strip()
    other = tmp_path / "other"
    done = run("--home", other, "import", file)
    assert done.status == 0
    assert "1 memory" in done.out
    assert "--yes" in done.err
    assert run("--home", other, "search", "postgres", "--json").json["count"] == 0
    assert run("--home", other, "import", file, "--json").json["dry_run"] is True


def test_on_a_terminal_an_import_asks(run: Run, used_home: Path, tmp_path: Path) -> None:
    file = run("export").out.strip()
    for answer, count in (("n\n", 0), ("y\n", 1)):
        other = tmp_path / answer.strip()
        with on_terminal("--home", other, "import", file) as terminal:
            terminal.wait_for("Do it?")
            terminal.press(answer)
            assert terminal.ended() == 0
        assert run("--home", other, "search", "postgres", "--json").json["count"] == count


def test_replacing_says_what_goes(run: Run, used_home: Path) -> None:
    file = run("export").out.strip()
    done = run("import", Path(file).name, "--mode", "replace", "--json")
    assert done.json["removed"]["memory"] == 1


def test_a_file_that_is_no_backup_is_refused(run: Run, used_home: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text('{"hello": 1}\n')
    done = run("import", "notes.jsonl", "--yes")
    assert done.status == Exit.USAGE
    assert "no backup" in done.err
    assert run("import", "missing.jsonl").status == Exit.FAILED


def test_on_a_terminal_an_import_shows_how_far_it_is(run: Run, used_home: Path) -> None:
    file = run("export").out.strip()
    with on_terminal("import", file, "--yes") as terminal:
        assert terminal.ended() == 0
        assert "importing" in terminal.drawn
    assert run("import", file, "--yes").err == ""
