-- Posts the JSON in the file that the script's argument names; the last line printed is what came of it, as JSON.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"

function init(arguments)
  local file = assert(io.open(arguments[1], "rb"))
  wrk.body = file:read("*a")
  file:close()
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests": %d, "seconds": %f, "bytes": %d, "p50": %f, "p99": %f, "wrong": %d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.connect + errors.read + errors.write + errors.timeout + errors.status))
end
