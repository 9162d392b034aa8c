"""What the program Batsim does beside simulating: its command line, its inputs, its files."""
