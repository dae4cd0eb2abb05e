"""Tests of values that need no conversion, as source for the functions that `coercion` and `leaves` compile."""

PASSING = {
    "String": "{0}.__class__ is str",
    "ID": "{0}.__class__ is str",
    "Boolean": "{0}.__class__ is bool",
    "Int": "{0}.__class__ is int and -2147483648 <= {0} <= 2147483647",
    "Float": "{0}.__class__ is float and -1.7976931348623157e308 <= {0} <= 1.7976931348623157e308",
}
"""GraphQL's own scalars → the test of a value that needs no conversion."""
