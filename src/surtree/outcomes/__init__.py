"""The kinds of outcome: one event, causes, arms."""
