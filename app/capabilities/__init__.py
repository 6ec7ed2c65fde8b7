"""What can be chosen on this installation, and why the rest cannot."""
