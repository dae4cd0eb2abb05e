"""The keys of users' records in a sequence of changes: the user, and what identifies the record for that user."""

_BETWEEN = "\x1f"  # the unit separator, which no subject of a token has


def change_key(user_id: str, key: str) -> str:
    """The key of a user's record."""
    return f"{user_id}{_BETWEEN}{key}"


def user_and_key(joined: str) -> tuple[str, str]:
    """The user and the record that such a key names."""
    user_id, _, key = joined.partition(_BETWEEN)
    return user_id, key
