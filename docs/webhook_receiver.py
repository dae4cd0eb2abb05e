"""Receives webhooks of Quakegraph: verifies them, takes each event once, and fetches those that it has missed.

    pip install standardwebhooks
    WEBHOOK_SECRET=whsec_… ENDPOINT_ID=… QUAKEGRAPH_TOKEN=… python webhook_receiver.py

It writes each event to standard output as a line of JSON, and remembers in `received.db` which ones it has taken.
Replace `handle` by what your program does with an event.
"""

import json
import os
import signal
import sqlite3
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from urllib.request import Request, urlopen

from standardwebhooks import Webhook, WebhookVerificationError

SECRET = os.environ["WEBHOOK_SECRET"]
ENDPOINT_ID = os.environ["ENDPOINT_ID"]
TOKEN = os.environ["QUAKEGRAPH_TOKEN"]  # with the scope `triggers:read`
GRAPH = os.environ.get("QUAKEGRAPH_URL", "http://127.0.0.1:8000/graphql")
PORT = int(os.environ.get("PORT", "9000"))

LONGEST_BODY = 2_000_000  # bytes; a payload has at most 256 KB in the store, and is longer with escapes
OVERTAKING_S = 1  # webhooks that are sent at the same time arrive in any order
LOOK_EVERY_S = 300  # for what was missed last, which leaves no hole


def handle(event):
    """Process an event. If this raises, the webhook is answered with 500 and sent again."""
    print(json.dumps(event), flush=True)


class Memory:
    """Which deliveries were taken: all up to a sequence number, and some beyond it."""

    def __init__(self, file):
        self._lock = Lock()
        self._database = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self._database.execute("CREATE TABLE IF NOT EXISTS taken (webhook_id TEXT PRIMARY KEY, sequence INTEGER)")
        self._database.execute("CREATE INDEX IF NOT EXISTS by_sequence ON taken (sequence)")
        self._database.execute("CREATE TABLE IF NOT EXISTS complete (one INTEGER PRIMARY KEY, sequence INTEGER)")

    def take(self, webhook_id, event):
        """Process an event, unless it was taken before. Returns whether another one is missing before it."""
        with self._lock:
            if not self._number("SELECT 1 FROM taken WHERE webhook_id = ?", webhook_id):
                handle(event)
                self._database.execute("INSERT INTO taken VALUES (?, ?)", (webhook_id, event["sequence"]))
            return event["sequence"] > self._complete()

    def complete(self):
        """The last sequence number before the first hole."""
        with self._lock:
            return self._complete()

    def pass_over(self, sequence):
        """Note that all deliveries up to this one were looked at: what is still missing has expired."""
        with self._lock:
            self._database.execute("REPLACE INTO complete VALUES (1, ?)", (sequence,))

    def close(self):
        """Finish the event in progress, and take no further ones. Only a kill can make an event come twice."""
        self._lock.acquire()
        self._database.close()

    def _complete(self):
        last = before = self._number("SELECT sequence FROM complete")
        while self._number("SELECT 1 FROM taken WHERE sequence = ?", last + 1):
            last += 1
        if last > before:
            self._database.execute("REPLACE INTO complete VALUES (1, ?)", (last,))
        return last

    def _number(self, query, *values):
        row = self._database.execute(query, values).fetchone()
        return row[0] if row else 0


MEMORY = Memory("received.db")
TO_REPAIR = Event()


class Receiver(BaseHTTPRequestHandler):
    """Answers webhooks: 204 for those that were taken, 401 for those that somebody else has sent."""

    protocol_version = "HTTP/1.1"
    timeout = 30  # seconds that a client may be silent

    def do_POST(self):
        size = int(self.headers.get("Content-Length", 0))
        if not 0 <= size <= LONGEST_BODY:
            self.close_connection = True
            return self.answer(413)
        try:
            event = Webhook(SECRET).verify(self.rfile.read(size), dict(self.headers))
        except (WebhookVerificationError, ValueError):  # ValueError: a header that cannot be read
            return self.answer(401)
        try:
            if MEMORY.take(self.headers["webhook-id"], event):
                TO_REPAIR.set()
        except Exception as error:
            print(f"An event could not be processed: {error!r}", file=sys.stderr, flush=True)
            return self.answer(500)
        return self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Log no requests."""


DELIVERIES = """
query ($endpoint: ID!, $after: Int!) {
  deliveries(endpointId: $endpoint, afterSequence: $after, first: 100) {
    nodes { sequence webhookId event { type timestamp payload } }
    pageInfo { hasNextPage }
  }
}
"""


def deliveries_after(sequence):
    """The next deliveries of the endpoint, whatever has become of them, and whether there are more."""
    body = {"query": DELIVERIES, "variables": {"endpoint": ENDPOINT_ID, "after": sequence}}
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
    with urlopen(Request(GRAPH, json.dumps(body).encode(), headers), timeout=30) as response:
        page = json.load(response)["data"]["deliveries"]
    return page["nodes"], page["pageInfo"]["hasNextPage"]


def repair():
    """Take all deliveries behind the last complete one that were not taken before."""
    after, more = MEMORY.complete(), True
    while more:
        nodes, more = deliveries_after(after)
        for node in nodes:
            if event := node["event"]:  # null once it is deleted
                said = {"type": event["type"], "timestamp": event["timestamp"], "data": event["payload"]}
                MEMORY.take(node["webhookId"], {**said, "sequence": node["sequence"]})
            after = node["sequence"]
    MEMORY.pass_over(after)


def repair_forever():
    """Repair at the start, when there is a hole, and now and then."""
    while True:
        try:
            repair()
        except Exception as error:  # the service does not answer, or `handle` failed
            print(f"Missed events cannot be fetched: {error!r}", file=sys.stderr, flush=True)
        TO_REPAIR.wait(LOOK_EVERY_S)
        TO_REPAIR.clear()
        Event().wait(OVERTAKING_S)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Receiver)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    print(f"Receiving at http://127.0.0.1:{server.server_port}/", file=sys.stderr, flush=True)
    Thread(target=repair_forever, daemon=True).start()
    try:
        server.serve_forever()
    finally:
        MEMORY.close()
