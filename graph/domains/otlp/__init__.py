"""OTLP/HTTP: how collectors, agents and SDKs of OpenTelemetry send their logs.

    body → bodies → format, protobuf or JSON → records one by one → values, mapping → LogWriter → answer

Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""
