"""Logging: a fixed sentence says what happened, and keywords give the values.

    logger = get_logger(__name__)
    logger.warning("Request logs wait for the store", waiting=3)

Loggers are structlog's, and their records go through the standard library, like those of other
libraries. So one formatter writes all of them, one line each, for people or as JSON. A line that is
written during a request holds the request's id.

No input can forge a line: characters that cannot be printed (line ends, escape sequences of terminals,
lone surrogates, marks that change the direction of text) are escaped in both formats.
"""

import logging
import sys
import threading
from types import TracebackType
from typing import Any, Literal, TextIO, cast

import structlog
from structlog.contextvars import bind_contextvars, get_contextvars, unbind_contextvars
from structlog.typing import EventDict

LogFormat = Literal["console", "json"]

CHATTY = ("httpx", "botocore", "aiobotocore")  # they log every request
LOOKS_LIKE_SYNTAX = frozenset(" =\"'\\")  # a value with one of these is quoted


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """The logger of a module. Its records hold the keyword arguments as `keywords`."""
    logger = structlog.wrap_logger(
        logging.getLogger(name),
        processors=[structlog.stdlib.filter_by_level, structlog.stdlib.PositionalArgumentsFormatter(), _to_record],
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    return cast("structlog.stdlib.BoundLogger", logger)


def _to_record(logger: object, method: str, event: EventDict) -> tuple[tuple[str], dict[str, Any]]:
    """The call of a standard logger. The keywords go into one value, since the logger has reserved names."""
    message = event.pop("event")
    own = {name: event.pop(name) for name in structlog.stdlib.LOG_KWARG_NAMES if name in event}
    return (message,), {**own, "extra": {"keywords": event}}


class during_request:  # noqa: N801 — it stands behind `with`
    """Add the request's id to each line that is logged inside, and the caller once it is known.

    structlog's `bound_contextvars` looks through all context variables of the task, and takes 7 µs instead of 2 µs.
    """

    __slots__ = ("_request_id",)

    def __init__(self, request_id: str) -> None:
        self._request_id = request_id

    def __enter__(self) -> None:
        bind_contextvars(request_id=self._request_id)

    def __exit__(self, *raised: object) -> None:
        unbind_contextvars("request_id", "subject")


def on_behalf_of(subject: str | None) -> None:
    """Add the request's caller to the lines; None for a caller without a token."""
    if subject is not None:
        bind_contextvars(subject=subject)


def configure_logging(level: str, log_format: LogFormat, stream: TextIO | None = None) -> None:
    """Write logs to standard error, or to `stream`. Python's warnings are logged too."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(formatter(log_format))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(True)
    for chatty in CHATTY:
        logging.getLogger(chatty).setLevel(logging.WARNING)


def log_unhandled() -> None:
    """Log what Python itself would write to standard error, in lines of its own: errors that nothing handles.

    For a process of ours alone: it is set for all threads, and for all objects that are freed.
    """
    logger = get_logger(__name__)

    def in_thread(failed: threading.ExceptHookArgs) -> None:
        error = failed.exc_value
        if not isinstance(error, SystemExit):  # which ends a thread, and is no error
            logger.error("A thread failed", exc_info=error, thread=failed.thread.name if failed.thread else None)

    def while_freeing(failed: "sys.UnraisableHookArgs") -> None:
        name = getattr(failed.object, "__qualname__", type(failed.object).__qualname__)  # its `repr` may fail as well
        logger.error("An error was ignored", exc_info=failed.exc_value, where=name)

    def at_last(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        logger.critical("The process failed", exc_info=(kind, error, trace))

    threading.excepthook, sys.unraisablehook, sys.excepthook = in_thread, while_freeing, at_last


def formatter(log_format: LogFormat) -> logging.Formatter:
    """The formatter that writes a record as a line."""
    return structlog.stdlib.ProcessorFormatter(
        processors=[
            _with_request,
            structlog.stdlib.ExtraAdder(),
            _with_keywords,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _without_meta,
            *([_unicode, structlog.processors.JSONRenderer()] if log_format == "json" else [_console_line]),
        ]
    )


def _with_request(logger: object, method: str, event: EventDict) -> EventDict:
    """Put the request's id and caller first."""
    return {**dict(sorted(get_contextvars().items())), **event}


def _with_keywords(logger: object, method: str, event: EventDict) -> EventDict:
    """Add the keywords of our own records."""
    keywords = event.pop("keywords", {})
    event.pop("message", None)  # the standard formatter of another handler may have added it to the record
    return {**event, **keywords}


def _without_meta(logger: object, method: str, event: EventDict) -> EventDict:
    """Remove values that are not for the reader: the record itself, and uvicorn's coloured message."""
    for name in ("_record", "_from_structlog", "color_message"):
        event.pop(name, None)
    return event


def _unicode(logger: object, method: str, event: EventDict) -> EventDict:
    """Escape lone surrogates. `JSONRenderer` would write them, and many JSON readers refuse them."""
    return {key: _without_surrogates(value) for key, value in event.items()}


def _without_surrogates(value: object) -> object:
    match value:
        case str():
            return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {_without_surrogates(str(key)): _without_surrogates(element) for key, element in value.items()}
        case list() | tuple():
            return [_without_surrogates(element) for element in value]
        case _:
            return value


def _console_line(logger: object, method: str, event: EventDict) -> str:
    """The line, and below it the indented trace. No line of the trace can pass for a line of the log."""
    trace = event.pop("exception", None)
    time, level, name, message = (event.pop(key) for key in ("timestamp", "level", "logger", "event"))
    values = "".join(f" {escaped(key)}={shown(value)}" for key, value in event.items())
    lines = [f"{time} {level:<8} {escaped(name)}: {escaped(str(message))}{values}"]
    if trace:
        lines += [f"    {escaped(line)}" for line in trace.split("\n")]
    return "\n".join(lines)


def shown(value: object) -> str:
    """A value as the line shows it, in quotes if its end would not be clear."""
    if isinstance(value, str):
        bare = value and value.isprintable() and LOOKS_LIKE_SYNTAX.isdisjoint(value)
        return value if bare else repr(value)
    return escaped(repr(value))


def escaped(text: str) -> str:
    """The text with what cannot be printed as escapes of Python, so that it is one line and harmless to a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
