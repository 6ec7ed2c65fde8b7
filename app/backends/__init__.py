"""Implementations of the ports: models, indexes, the JVM, the network. Heavy libraries are imported when first used."""
