"""The load that one node and two workers are held to (docs/many-machines.md, "Load")."""
