def write_pages(*a, **k): pass
