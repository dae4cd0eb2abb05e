"""What holds for the whole schema: connections, what users own, scopes, and subscriptions that resume.

The cases are made of the schema, so a field or a type that is added later has its cases at once. A connection without
content, a subscription without writes, or a mutation whose ids nothing is known of fails: then add to `filled.py`.
"""
