import { farthestMs, leadMs, rateTtlMs, silentMs } from './timeline.ts';

/**
 * The functions of `timeline.ts` for Redis: the state is the hash KEYS[1], a worker's places are its field `w:<id>`.
 * Numbers are written with 17 digits, so that none loses its fraction on the way.
 */

/** The clock of Redis, milliseconds. */
export const serverClock = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000
`;

const state = `
local key = KEYS[1]
local function text(number) return string.format('%.17g', number) end
local function get(field) return redis.call('HGET', key, field) or nil end
local function getNumber(field) return tonumber(get(field) or '') end
local function set(field, value)
  if value == nil then redis.call('HDEL', key, field) else redis.call('HSET', key, field, value) end
end
`;

const lead = `
local function lead(worker)
  local leader, leadUntil = get('leader'), getNumber('leadUntil') or 0
  local isFree = not leader or leadUntil <= now or leadUntil > now + ${leadMs}
  if not isFree and leader ~= worker then return false end
  set('leader', worker)
  set('leadUntil', text(now + ${leadMs}))
  return true
end
`;

/** ARGV: worker, rate or nothing, cap, rest in milliseconds. Replies with 0 when another worker has the lead. */
const setRateBody = `
if not lead(ARGV[1]) then return 0 end
local rate = tonumber(ARGV[2])
local gap = rate and 1000 / rate or nil
local before, next = getNumber('gap'), getNumber('next')
if gap and before and next and next > now then set('next', text(now + ((next - now) * gap) / before)) end
if not gap then set('next', nil) end
set('gap', gap and text(gap) or nil)
set('until', text(now + ${rateTtlMs}))
set('restUntil', text(now + tonumber(ARGV[4])))
set('cap', ARGV[3])
`;

/** ARGV: worker, want, held, need, active, aheadMs, leadInMs. Replies with what `SlotReply` has, as texts. */
const takeBody = `
local worker, want, held, need = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local active, ahead, leadIn = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])

local workers = {}
local fields = redis.call('HGETALL', key)
local known = {}
for i = 1, #fields, 2 do
  local field, value = fields[i], fields[i + 1]
  if string.sub(field, 1, 2) == 'w:' then
    local at, needed, calls, granted = string.match(value, '^(%S+) (%S+) (%S+) (%S+)$')
    at = tonumber(at)
    if at < now - ${silentMs} or at > now + ${silentMs} then
      redis.call('HDEL', key, field)
    else
      workers[string.sub(field, 3)] =
        { need = tonumber(needed), active = tonumber(calls), granted = tonumber(granted) }
    end
  else
    known[field] = value
  end
end
local own = workers[worker] or { granted = 0 }
own.need, own.active = need, active
workers[worker] = own

local function sum(what)
  local total = 0
  for id, each in pairs(workers) do if id ~= worker then total = total + each[what] end end
  return total
end

local cap = tonumber(known['cap'] or '0')
local function share()
  if need <= 0 then return 0 end
  local ids = {}
  for id, each in pairs(workers) do if each.need > 0 then ids[#ids + 1] = id end end
  table.sort(ids)
  local count = #ids
  local turn = count > cap and math.floor(now / 1000) or 0
  local byNeed = {}
  for index, id in ipairs(ids) do
    byNeed[index] = { id = id, need = workers[id].need, rank = (index - 1 + turn) % count }
  end
  table.sort(byNeed, function(a, b)
    if a.need ~= b.need then return a.need < b.need end
    return a.rank < b.rank
  end)
  local left = cap
  for index, each in ipairs(byNeed) do
    local following = count - index + 1
    local level = math.floor(left / following)
    if each.need > level then
      local rank
      for other = index, count do if byNeed[other].id == worker then rank = byNeed[other].rank end end
      if not rank then return need end
      local above = 0
      for other = index, count do if byNeed[other].rank < rank then above = above + 1 end end
      return level + (above < left - level * following and 1 or 0)
    end
    left = left - each.need
  end
  return need + math.floor(left / count)
end

local places = math.max(0, math.min(share(), cap - sum('granted')))
set('w:' .. worker, table.concat({ text(now), text(need), text(active), text(math.max(places, active)) }, ' '))
local elsewhere = sum('active')

local validUntil = tonumber(known['until'] or '0')
local isSet = validUntil > now and validUntil <= now + ${rateTtlMs}
local rest = math.max(0, tonumber(known['restUntil'] or '0') - now)
local gap = tonumber(known['gap'] or '')
local function reply(slots, from)
  return {
    text(now), text(slots), text(from), gap and text(gap) or '', isSet and '1' or '0', text(places), text(elsewhere),
    text(rest)
  }
end
if not isSet or not gap or rest > 0 then return reply(0, 0) end
local next = tonumber(known['next'] or '')
local free = math.min(next or now + ahead, now + ${farthestMs} + gap)
local from = math.max(now + leadIn, free)
local function room(aheadOf) return math.floor((now + aheadOf - from) / gap) + 1 end
local others = 0
for id, each in pairs(workers) do if id ~= worker and each.need > 0 then others = others + 1 end end
local part = math.max(1, math.ceil(ahead / gap / (others + 1)))
local slots = math.min(want, math.max(math.min(part - held, room(ahead)), room(ahead / 2)))
if slots < 1 then
  if free ~= next then set('next', text(free)) end
  return reply(0, 0)
end
set('next', text(from + slots * gap))
return reply(slots, from)
`;

/** How long what nobody asks for any more is kept. */
const kept = `
local function keep(...) for _, name in ipairs({ ... }) do redis.call('PEXPIRE', name, 86400000) end end
`;

/** The scripts, for a clock that is told in its first lines. */
export function timelineScripts(clock: string) {
  return {
    take: `${clock}${state}${takeBody}`,
    setRate: `${clock}${state}${lead}${setRateBody}return 1`,
    /** Besides, publishes a pace: KEYS[2], ARGV[5]. */
    decide: `${clock}${state}${lead}${kept}${setRateBody}
redis.call('HSET', KEYS[2], 'at', text(now), 'pace', ARGV[5])
redis.call('HDEL', KEYS[2], 'over')
keep(key, KEYS[2])
return 1`,
    /**
     * KEYS: timeline, pace, workers, runs. ARGV: worker, its entry. Replies with: now, whether it leads, when the pace was
     * published, the pace; to the one that leads also all workers and all runs.
     */
    beat: `${clock}${state}${lead}${kept}
redis.call('HSET', KEYS[3], ARGV[1], text(now) .. ' ' .. ARGV[2])
keep(KEYS[3])
local leads = lead(ARGV[1])
local pace = redis.call('HMGET', KEYS[2], 'at', 'pace')
local reply = { text(now), leads and 1 or 0, pace[1] or '', pace[2] or '' }
if leads then
  reply[5] = redis.call('HVALS', KEYS[3])
  reply[6] = redis.call('HVALS', KEYS[4])
end
return reply`,
    /** KEYS: timeline, workers, pace. ARGV: worker. When no other worker is there that may call at the pace, it is over. */
    leave: `${clock}${state}
redis.call('HDEL', KEYS[2], ARGV[1])
set('w:' .. ARGV[1], nil)
if get('leader') ~= ARGV[1] then return 1 end
set('leader', nil)
for _, entry in ipairs(redis.call('HVALS', KEYS[2])) do
  if tonumber(string.match(entry, '^%S+')) > now - ${silentMs} then return 1 end
end
redis.call('HSET', KEYS[3], 'over', '1')
return 1`,
    /** KEYS: runs. ARGV: id, key, entry. Replies with 0 when another run has that id. */
    putRun: `${clock}${state}${kept}
local known = get(ARGV[1])
if known and string.match(known, '^%S+ (%S+) ') ~= ARGV[2] then return 0 end
set(ARGV[1], text(now) .. ' ' .. ARGV[2] .. ' ' .. ARGV[3])
keep(key)
return 1`,
    /** KEYS: a hash. Replies with the clock and all values. */
    all: `${clock}${state} return { text(now), redis.call('HVALS', key) }`,
    /** KEYS: a hash. ARGV: a field. */
    one: `${clock}${state} return { text(now), get(ARGV[1]) or '' }`,
    /** KEYS: pace. Replies with nothing but the clock when it is over. */
    pace: `${clock}${state}
if get('over') then return { text(now), '', '' } end
return { text(now), get('at') or '', get('pace') or '' }`,
    /** KEYS: controls. ARGV: run, kind, control. */
    tell: `${clock}${state}${kept} set(ARGV[1] .. ' ' .. ARGV[2], ARGV[3]) keep(key) return 1`,
    /** KEYS: controls. ARGV: run. */
    told: `${clock}${state} return { text(now), get(ARGV[1] .. ' command') or '', get(ARGV[1] .. ' rate') or '' }`,
    /** KEYS: controls. ARGV: run. */
    clearControls: `${clock}${state} redis.call('HDEL', key, ARGV[1] .. ' command', ARGV[1] .. ' rate') return 1`,
    /** KEYS: runs, controls. ARGV: how long ago the last sign may be. */
    sweep: `${clock}${state}
local all = redis.call('HGETALL', key)
for i = 1, #all, 2 do
  if tonumber(string.match(all[i + 1], '^%S+')) < now - tonumber(ARGV[1]) then
    redis.call('HDEL', key, all[i])
    redis.call('HDEL', KEYS[2], all[i] .. ' command', all[i] .. ' rate')
  end
end
return 1`,
  };
}
