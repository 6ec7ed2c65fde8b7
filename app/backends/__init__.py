"""Everything that touches the world: models, indexes, the JVM, the network. Heavy imports happen inside loaders."""
