"""Runs, what they used and generated, and what that tells of files."""
