-- Posts the JSON bodies of the file that the script's argument names, one on each line, in turn; the last line printed
-- is what came of it, as JSON. An answer with errors counts as wrong.
local requests, at = {}, 0
local threads = {}
wrong = 0

function setup(thread)
  table.insert(threads, thread)
end

function init(arguments)
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  for body in io.lines(arguments[1]) do
    requests[#requests + 1] = wrk.format(nil, nil, nil, body)
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function response(status, headers, body)
  if status == 200 and string.find(body, '"errors":', 1, true) then wrong = wrong + 1 end
end

function done(summary, latency)
  local errors, answered_wrong = summary.errors, 0
  for _, thread in ipairs(threads) do
    answered_wrong = answered_wrong + thread:get("wrong")
  end
  io.write(string.format(
    '{"requests": %d, "seconds": %f, "p50": %f, "p99": %f, "wrong": %d}\n',
    summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.connect + errors.read + errors.write + errors.timeout + errors.status + answered_wrong))
end
