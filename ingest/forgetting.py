"""Forgetting for good in a whole home: its store, its backups, and the files of its inbox, archive and audit."""

from graph_memory.adapters.files.backup_folder import BackupFolder
from graph_memory.bootstrap import Services
from graph_memory.services.forget import Forget
from ingest.forgotten_files import HomeCopies


def forgetting(services: Services) -> Forget:
    """Make what forgets in the home of these services."""
    copies = HomeCopies(services.home, services.audit.mask)
    backups = BackupFolder(services.home.backups)
    return Forget(services.store, services.clock, services.graph_policy, backups, copies)
