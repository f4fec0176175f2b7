"""Numbers, quoted text and tables in words."""
