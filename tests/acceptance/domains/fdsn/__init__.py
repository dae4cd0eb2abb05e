"""Tests of the web service fdsnws-event."""
