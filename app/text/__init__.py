"""Text processing shared by the other packages."""
