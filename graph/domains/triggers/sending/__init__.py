"""Sends webhooks, and refuses to send them into the network of the service.

    url → Destinations → Resolver → Sender → Answer

Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""
