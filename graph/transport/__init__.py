"""GraphQL over HTTP: requests read, operations executed, answers and errors written."""
