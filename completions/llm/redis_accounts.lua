-- Limits of a provider for all workers: completions/llm/limits.py in Redis.
-- KEYS: the account (a hash), its places (a sorted set: name, until when)
-- ARGV: act, now ("" takes the server's clock), numbers of the act
local account, places = KEYS[1], KEYS[2]
local act, now = ARGV[1], tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) + tonumber(time[2]) / 1000000
end
local BURST_S, LONGEST_BLOCK_S, KEPT_S = 1, 3600, 7200
local GRAIN_S = 0.000001 -- what is kept is rounded to it: less of a block is none

local function text(number)
  return string.format('%.6f', number)
end

local function blocked_s()
  local left = tonumber(redis.call('HGET', account, 'blocked_until') or 0) - now
  return (left > GRAIN_S and left <= LONGEST_BLOCK_S + GRAIN_S) and left or 0
end

local function capacity(rate)
  return math.max(1, BURST_S * rate / 60)
end

local function level(name, rate)
  local kept = redis.call('HMGET', account, name, name .. '_at')
  if not (kept[1] and kept[2]) then
    return capacity(rate)
  end
  local came = math.max(0, now - tonumber(kept[2])) * rate / 60
  return math.min(capacity(rate), tonumber(kept[1]) + came)
end

local function keep(name, rate, left)
  redis.call('HSET', account, name, text(math.min(capacity(rate), left)), name .. '_at', text(now))
  redis.call('EXPIRE', account, KEPT_S)
end

-- Limits come as "requests", "tokens", "concurrency" per ARGV 3 to 5; 0 means none.
local requests, tokens, concurrency = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])

if act == 'block' then
  local until_then = now + math.max(math.min(tonumber(ARGV[6]), LONGEST_BLOCK_S), blocked_s())
  redis.call('HSET', account, 'blocked_until', text(until_then))
  redis.call('EXPIRE', account, KEPT_S)
  return text(until_then - now)
elseif act == 'blocked' then
  return text(blocked_s())
elseif act == 'settle' then
  local place, n_requests, n_tokens = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
  redis.call('ZREM', places, place)
  if requests > 0 then keep('requests', requests, level('requests', requests) + n_requests) end
  if tokens > 0 then keep('tokens', tokens, level('tokens', tokens) + n_tokens) end
  return ''
end

-- take
local place, n_tokens = ARGV[6], tonumber(ARGV[7])
local lease_s, patience_s = tonumber(ARGV[8]), tonumber(ARGV[9])
local blocked = blocked_s()
if blocked > 0 then
  return {'wait', text(blocked)}
end
if concurrency > 0 then
  redis.call('ZREMRANGEBYSCORE', places, '-inf', text(now))
  if redis.call('ZCARD', places) >= concurrency then
    return {'full', ''}
  end
end

local wait_s, charges = 0, {}
local function charge(name, rate, n)
  if rate > 0 then
    local there = level(name, rate)
    wait_s = math.max(wait_s, 60 * (math.min(n, capacity(rate)) - there) / rate)
    charges[#charges + 1] = {name, rate, n, there}
  end
end
charge('requests', requests, 1)
charge('tokens', tokens, n_tokens)
if wait_s > patience_s then
  return {'wait', text(wait_s)}
end
for _, one in ipairs(charges) do
  local name, rate, n, there = one[1], one[2], one[3], one[4]
  local comes = wait_s * rate / 60
  keep(name, rate, math.min(capacity(rate), there + comes) - n - comes)
end
if concurrency > 0 then
  redis.call('ZADD', places, text(now + wait_s + lease_s), place)
  redis.call('EXPIRE', places, KEPT_S)
end
return {'taken', text(wait_s)}
