"""GraphQL documents: parsed, limited, validated, priced and remembered before execution."""
