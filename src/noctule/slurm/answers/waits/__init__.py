"""Why jobs waited."""
