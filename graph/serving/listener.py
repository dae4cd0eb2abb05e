"""Closes a listener without losing the connections in its queue.

Closing a listening socket resets every connection that the kernel has completed and the process has
not yet accepted. Between the last accept and the close, another one can arrive. So new connections
are refused first, then the queue is emptied, then the socket is closed.

This works on Linux. Elsewhere, a connection in the last moment is reset.
"""

import socket
import struct
import sys
from array import array

from graph.observability.logs import get_logger

SO_ATTACH_FILTER = 26  # include/uapi/asm-generic/socket.h

FLAGS_OFFSET = 13  # of the byte with a TCP segment's flags, RFC 9293 section 3.1
SYN, SYN_OR_ACK = 0x02, 0x12

# A classic BPF program, as `struct sock_filter` (code, jump if true, jump if false, operand): a segment
# that asks for a new connection is dropped; the client takes it for lost, and sends it again. All others
# pass, so that a handshake in progress is completed.
NO_NEWCOMERS = (
    (0x30, 0, 0, FLAGS_OFFSET),  # load the byte
    (0x54, 0, 0, SYN_OR_ACK),  # and with
    (0x15, 0, 1, SYN),  # equal?
    (0x06, 0, 0, 0),  # drop it
    (0x06, 0, 0, 0xFFFFFFFF),  # keep all of it
)

logger = get_logger(__name__)


def refuse_newcomers(listener: socket.socket) -> None:
    """Refuse new connections. Those in the kernel's queue can still be accepted.

    This holds for every process that has the socket.
    """
    if sys.platform != "linux":
        return
    program = array("B", b"".join(struct.pack("HBBI", *line) for line in NO_NEWCOMERS))
    address, _ = program.buffer_info()
    described = struct.pack("HP", len(NO_NEWCOMERS), address)  # struct sock_fprog
    try:
        listener.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, described)
    except OSError as error:  # a sandbox may forbid it
        logger.info("A connection in the last moment may be reset", reason=error.strerror)
