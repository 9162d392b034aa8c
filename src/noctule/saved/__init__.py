"""Schedules in files: the text of Batsim's and our own, and Parquet; written and read back."""
