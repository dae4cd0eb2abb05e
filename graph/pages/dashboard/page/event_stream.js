// Reads server-sent events from a stream of text. The browser's own EventSource would do, could it send a token.
// Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation

/**
 * The messages of a stream, each as soon as the blank line behind it has come.
 *
 * @param {AsyncIterable<string>} chunks  cut anywhere
 * @returns {AsyncGenerator<{event: string, data: string}>}
 */
export async function* messages(chunks) {
  let rest = "";
  let event = "";
  let data = [];
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split(/\r\n|\n|\r(?!$)/); // a CR at the end may be half of a CRLF
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (event || data.length) {
          yield { event: event || "message", data: data.join("\n") };
        }
        event = "";
        data = [];
      } else {
        const [, field, value] = line.match(/^([^:]*):? ?(.*)$/s);
        if (field === "event") {
          event = value;
        } else if (field === "data") {
          data.push(value);
        } // a comment has no name, and `id` and `retry` are not for this client
      }
    }
  }
}
