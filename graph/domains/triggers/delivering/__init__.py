"""Delivers events to endpoints: one process of many, under a lease."""
