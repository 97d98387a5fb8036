-- For wrk: posts the file's text, each time with another request id; wrk -s post.lua URL -- FILE NAME
-- In the end one line of JSON says what came of it.

local body, name
local count = 0

function init(args)
  local file = assert(io.open(args[1]))
  body = file:read("*a")
  file:close()
  name = args[2]
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  count = count + 1
  local text = body:gsub("REQUEST", name .. count)
  return wrk.format(nil, nil, nil, text)
end

function done(summary)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  print(string.format('{"requests": %d, "microseconds": %d, "failed": %d}',
    summary.requests, summary.duration, failed))
end
