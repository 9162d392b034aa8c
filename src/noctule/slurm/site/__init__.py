"""A site: its configuration and its jobs together, read, kept in a folder and written back."""
