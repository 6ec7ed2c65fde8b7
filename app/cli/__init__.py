"""The commands of `flask --app app`."""
