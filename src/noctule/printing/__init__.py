"""What commands found, as sentences, tables and data."""
