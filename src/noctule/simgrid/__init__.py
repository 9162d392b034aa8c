"""SimGrid itself, asked where it is installed: what does it make of the same tasks?

A small C++ program does the asking. It comes with the package as source, and is compiled when it is
first needed.
"""
