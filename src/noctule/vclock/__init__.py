"""Programs on simulated time: unmodified, on Linux, without privileges.

`program` runs one on a `clock`; `real_time` is the same interface on the wall clock, for machines
on which `support` says why it cannot be.
"""
