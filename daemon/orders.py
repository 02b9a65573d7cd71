"""What a person decides while the daemon runs: other settings, a pause, going on.

The settings file and the pause are looked at before each piece of work and within long ones, which costs two looks at
the file system; so what somebody said holds from then on, whether or not a signal was sent. All of it is taken up by
the worker's thread, between two pieces, so that no piece is learned half by the old settings and half by the new ones.
"""

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from daemon.systemd import READY, notify, reloading
from graph_memory.config import LoadedConfig
from graph_memory.home import Home
from graph_memory.log import get_logger
from graph_memory.pauses import Pause, find_pause

PAUSED = "paused"
VANISHED_SECONDS = 2.0
"""For how long a settings file must be gone, or empty, to be believed: some programs write that way."""
_LOG = get_logger("daemon.orders")


class _Look(NamedTuple):
    """What shows that the settings file was changed."""

    inode: int
    size: int
    modified_ns: int
    changed_ns: int


class Orders:
    """Heeds the settings file and the pause of a home.

    `load` reads the settings, which never fails; `apply` puts them in force. `now` returns seconds on a clock that
    never goes back. `problem` says why the settings in force are not those that are written.
    """

    def __init__(
        self,
        config: LoadedConfig,
        load: Callable[[], LoadedConfig],
        apply: Callable[[LoadedConfig], None],
        *,
        clock: Callable[[], datetime],
        now: Callable[[], float],
    ) -> None:
        self._home, self._config, self._load, self._apply = config.home, config, load, apply
        self._clock, self._now = clock, now
        self._is_asked = False
        self._seen = _look_at(config.home)
        self._gone_since: float | None = None
        self._pause: Pause | None = None
        self.problem: str | None = None

    def ask(self) -> None:
        """Have the settings read anew, changed or not; safe to call from a signal's handler."""
        self._is_asked = True

    def are_new(self) -> bool:
        """Tell whether there is something to heed."""
        return self._is_asked or self._has_changed() or self._current_pause() != self._pause

    def heed(self) -> str | None:
        """Put in force what is new; return what learning is held up by, if it is."""
        if self._is_asked or self._has_changed():
            self._is_asked, self._seen, self._gone_since = False, _look_at(self._home), None
            notify(reloading())
            try:
                self._reload()
            finally:
                notify(READY)
        pause = self._current_pause()
        if pause != self._pause:
            _LOG.info("paused" if pause is not None else "resumed")
        self._pause = pause
        return None if pause is None else PAUSED

    def _current_pause(self) -> Pause | None:
        return find_pause(self._home, self._clock())

    def _has_changed(self) -> bool:
        look = _look_at(self._home)
        if look == self._seen:
            self._gone_since = None
            return False
        if look is not None and look.size > 0:
            return True
        if self._gone_since is None:
            self._gone_since = self._now()
        return self._now() - self._gone_since >= VANISHED_SECONDS

    def _reload(self) -> None:
        """Take the settings as they are written now; of a file that can't be read, keep what was in force."""
        config = self._load()
        name = config.home.config_file.name
        unread = next((it for it in config.problems if it.setting == name), None)
        if unread is not None:
            self.problem = f"settings: {unread.message.removesuffix('; the defaults are used')}; those before it hold"
            _LOG.warning("settings_kept", problem=unread.message)
            return
        self._apply(config)
        fixed = [it for it in ("store", "neo4j") if getattr(config.settings, it) != getattr(self._config.settings, it)]
        self.problem = f"settings: {', '.join(fixed)} changed, which a restart puts in force" if fixed else None
        for problem in config.problems:
            _LOG.warning("setting", setting=problem.setting, source=problem.source, problem=problem.message)
        _LOG.info("settings_reloaded", problems=len(config.problems))


def _look_at(home: Home) -> _Look | None:
    try:
        status = home.config_file.stat()
    except OSError:
        return None
    return _Look(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
