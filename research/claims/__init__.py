"""Claims with labels written over the leads of the shipped corpus: reading, splitting, and whole runs over them."""
