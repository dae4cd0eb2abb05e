"""Who asks, and what they may do: callers, the tokens that they bring, scopes, and what they may spend."""
