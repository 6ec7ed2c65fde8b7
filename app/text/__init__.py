"""Plain-text tools that modules, backends and training share: sentences, names, words."""
