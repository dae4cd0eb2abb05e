"""The end of a listener, in which nobody who stands in its queue is lost.

Closing a socket that listens resets every connection that its kernel has taken for it and that
the process has not accepted yet. Between the last accept and the close there is always time for
one more. So newcomers are turned away first, then the queue is emptied, then the socket closed.

Linux only; elsewhere, a connection that comes in the very last moment is reset.
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
# that asks for a new connection is dropped, which the client takes for a lost one and sends again. All
# others pass, so that a handshake under way is completed.
NO_NEWCOMERS = (
    (0x30, 0, 0, FLAGS_OFFSET),  # load the byte
    (0x54, 0, 0, SYN_OR_ACK),  # and with
    (0x15, 0, 1, SYN),  # equal?
    (0x06, 0, 0, 0),  # drop it
    (0x06, 0, 0, 0xFFFFFFFF),  # keep all of it
)

logger = get_logger(__name__)


def refuse_newcomers(listener: socket.socket) -> None:
    """Take no new connection; those that the kernel has taken can still be accepted.

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
        logger.info("A connection that comes in the very last moment may be reset", reason=error.strerror)
