"""GraphQL over HTTP: reads requests, has operations executed, writes answers and errors."""
