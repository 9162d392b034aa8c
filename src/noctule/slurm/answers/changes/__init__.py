"""A site after changes of its configuration, its nodes or its load."""
