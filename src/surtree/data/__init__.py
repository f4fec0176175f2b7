"""The user's data: any table as typed columns, and the survival target, both checked."""
