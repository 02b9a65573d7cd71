"""What is kept in plain files: backups and the audit's log."""
