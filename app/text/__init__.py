"""Text processing shared by modules, back ends and training."""
