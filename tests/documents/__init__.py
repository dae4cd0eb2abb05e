"""What the documents promise is so: the README, docs/, and all other Markdown of the project."""
