"""Whole files: backups, what is kept before a migration, and putting one back."""
