import { controlKinds } from './entries.ts';
import {
  fairPartMs,
  farthestSlotMs,
  leaseMs,
  leastGraceMs,
  lookPerWorkerMs,
  losingRestMs,
  rateTtlMs,
  seatTurnMs,
  silentAfterMs,
} from './timeline.ts';

/**
 * `timeline.ts` for Redis: the state is the hash KEYS[1], a worker's lease is its field `w:<id>`. With 17 digits, numbers lose no fraction.
 */

/** The clock of Redis, in milliseconds, as Lua lines. */
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

const tryToLead = `
local function tryToLead(worker)
  local leader, leadUntil = get('leader'), getNumber('leadUntil') or 0
  local isFree = not leader or leadUntil <= now or leadUntil > now + ${leaseMs}
  if not isFree and leader ~= worker then return false end
  set('leader', worker)
  set('leadUntil', text(now + ${leaseMs}))
  return true
end
`;

/** ARGV: worker, rate or nothing, cap, rest in milliseconds. Replies with 0 when another worker has the lead. */
const setRateBody = `
if not tryToLead(ARGV[1]) then return 0 end
local rate = tonumber(ARGV[2])
local gap = rate and math.max(1000 / rate, ${1_000 + leastGraceMs} / (rate + 1)) or nil
local lastGap, next = getNumber('gap'), getNumber('next')
local rest = tonumber(ARGV[4])
if rest >= ${losingRestMs} then
  set('next', text(now + rest))
elseif gap and lastGap and next and next > now then
  set('next', text(now + ((next - now) * gap) / lastGap))
end
if not gap then set('next', nil) end
set('gap', gap and text(gap) or nil)
set('until', text(now + ${rateTtlMs}))
set('restUntil', text(now + rest))
set('cap', ARGV[3])
`;

/**
 * ARGV: worker, want, need, active, aheadMs, leadInMs. Replies with the parts of `SlotReply`, as texts. The field `sums` is: when all
 * leases were read; how many there are; the sums of callers, active and seats. All are read only when that is too long ago.
 */
const takeBody = `
local worker, want, need, active = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local ahead, leadIn = tonumber(ARGV[5]), tonumber(ARGV[6])
local known = redis.call('HMGET', key, 'sums', 'w:' .. worker, 'cap', 'until', 'restUntil', 'gap', 'next', 'shortUntil')
local function number(index) return tonumber(known[index] or '') end
local function numbers(value)
  local all = {}
  for each in string.gmatch(value or '', '%S+') do all[#all + 1] = tonumber(each) end
  return all
end

local at, size, wanting, calls, leased = unpack(numbers(known[1]))
local function count(each, by)
  size, wanting, calls, leased = size + by, wanting + by * math.min(1, each[2]), calls + by * each[3], leased + by * each[4]
end
local own = numbers(known[2])
local last = own[1] or 0
if not at or now < at or now >= at + size * ${lookPerWorkerMs} then
  at, size, wanting, calls, leased = now, 0, 0, 0, 0
  local fields = redis.call('HGETALL', key)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, 2) == 'w:' and fields[i] ~= 'w:' .. worker then
      local each = numbers(fields[i + 1])
      if math.abs(now - each[1]) > ${silentAfterMs} then redis.call('HDEL', key, fields[i]) else count(each, 1) end
    end
  end
elseif own[1] then count(own, -1) end

local cap, elsewhere, free = number(3) or 0, calls, (number(3) or 0) - leased
local own = { now, need, active, 0, (own[4] or 0) > 0 and own[5] or now }
count(own, 1)
local fair = math.max(1, math.floor(cap / math.max(1, wanting)))
local isOver = wanting > cap and math.abs(now - own[5]) >= ${seatTurnMs} and (want > 0 or not known[6])
local shortUntil = number(8) or 0
local isShort = shortUntil > now and shortUntil <= now + ${fairPartMs}
local seats = isOver and 0 or math.max(0, math.min(need, isShort and fair or cap, free))
if seats < math.min(need, fair) then shortUntil = now + ${fairPartMs} end
own[4] = math.max(seats, active)
leased = leased + own[4]
for index, each in ipairs(own) do own[index] = text(each) end
local callers = seats > 0 and math.min(wanting, cap) or wanting

local validUntil, rest = number(4) or 0, math.max(0, (number(5) or 0) - now)
local gap, next = number(6), number(7)
local isSet = validUntil > now and validUntil <= now + ${rateTtlMs}
local slots, from = 0, 0
if isSet and gap and rest == 0 then
  local free = math.min(next or now + ahead, now + ${farthestSlotMs} + gap)
  from = math.max(now + leadIn, free)
  local function room(aheadOf) return math.floor((now + aheadOf - from) / gap) + 1 end
  local part = math.max(1, math.floor((now - last) / gap / math.max(1, callers) + 0.5))
  slots = math.max(0, math.min(want, math.max(math.min(part, room(ahead)), room((ahead + leadIn) / 2))))
  next = slots > 0 and from + slots * gap or free
  if slots == 0 then from = 0 end
end
redis.call('HSET', key, 'w:' .. worker, table.concat(own, ' '), 'shortUntil', text(shortUntil),
  'sums', table.concat({ text(at), text(size), text(wanting), text(calls), text(leased) }, ' '),
  unpack(next and { 'next', text(next) } or {}))
return {
  text(now), text(slots), text(from), gap and text(gap) or '', isSet and '1' or '0', text(seats), text(elsewhere), text(rest),
  text(callers)
}
`;

const luaControlKinds = `{ ${controlKinds.map((kind) => `'${kind}'`).join(', ')} }`;

const keepFunction = `
local function keep(...) for _, name in ipairs({ ... }) do redis.call('PEXPIRE', name, 86400000) end end
`;

/** @param clock Lua lines that read it */
export function timelineScripts(clock: string) {
  return {
    take: `${clock}${state}${takeBody}`,
    setRate: `${clock}${state}${tryToLead}${setRateBody}return 1`,
    /** Also publishes a pace: KEYS[2], ARGV[5]. */
    decide: `${clock}${state}${tryToLead}${keepFunction}${setRateBody}
redis.call('HSET', KEYS[2], 'at', text(now), 'pace', ARGV[5])
redis.call('HDEL', KEYS[2], 'over')
keep(key, KEYS[2])
return 1`,
    /**
     * KEYS: timeline, pace, workers, runs. ARGV: worker, its entry, whether it wants the lead. Replies with: now, whether it leads (2: as
     * before), when the pace was published, the pace; for the leader also the workers with recent beats, and the runs in progress.
     */
    beat: `${clock}${state}${tryToLead}${keepFunction}
redis.call('HSET', KEYS[3], ARGV[1], text(now) .. ' ' .. ARGV[2])
keep(KEYS[3])
local hasLed = get('leader') == ARGV[1]
local wantsLead = ARGV[3] == '1' or math.abs(now - (getNumber('runAt') or 0)) < ${silentAfterMs}
local leads = wantsLead and tryToLead(ARGV[1])
local pace = redis.call('HMGET', KEYS[2], 'at', 'pace')
local reply = { text(now), leads and (hasLed and 2 or 1) or 0, pace[1] or '', pace[2] or '' }
if leads then
  local workers, runs = {}, {}
  for _, entry in ipairs(redis.call('HVALS', KEYS[3])) do
    if tonumber(string.match(entry, '^%S+')) > now - ${silentAfterMs} then workers[#workers + 1] = entry end
  end
  for _, entry in ipairs(redis.call('HVALS', KEYS[4])) do
    if string.find(entry, '"state":"running"', 1, true) then runs[#runs + 1] = entry end
  end
  reply[5], reply[6] = workers, runs
end
return reply`,
    /**
     * KEYS: timeline, pace. ARGV: worker. Replies with 0 when another worker has the lead or wants to call. Slots already taken have passed
     * when the pace ends.
     */
    giveUpLead: `${clock}${state}
if get('leader') ~= ARGV[1] then return 0 end
local fields = redis.call('HGETALL', key)
for i = 1, #fields, 2 do
  local at, need, active = string.match(fields[i + 1], '^(%S+) (%S+) (%S+) ')
  if string.sub(fields[i], 1, 2) == 'w:' and tonumber(at) > now - ${silentAfterMs} and need .. active ~= '00' then return 0 end
end
redis.call('HSET', key, 'leadUntil', text(now), 'until', '0', 'next', text(now))
redis.call('HSET', KEYS[2], 'over', '1')
return 1`,
    /** KEYS: timeline, workers, pace. ARGV: worker. Ends the pace if no other worker may use it. */
    leave: `${clock}${state}
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('HDEL', key, 'w:' .. ARGV[1], 'sums')
if get('leader') ~= ARGV[1] then return 1 end
set('leader', nil)
for _, entry in ipairs(redis.call('HVALS', KEYS[2])) do
  if tonumber(string.match(entry, '^%S+')) > now - ${silentAfterMs} then return 1 end
end
redis.call('HSET', KEYS[3], 'over', '1')
return 1`,
    /** KEYS: runs, timeline. ARGV: id, key, entry, whether the run is in progress. Replies with 0 when another run has this id. */
    putRun: `${clock}${state}${keepFunction}
local known = get(ARGV[1])
if known and string.match(known, '^%S+ (%S+) ') ~= ARGV[2] then return 0 end
set(ARGV[1], text(now) .. ' ' .. ARGV[2] .. ' ' .. ARGV[3])
if ARGV[4] == '1' then redis.call('HSET', KEYS[2], 'runAt', text(now)) end
keep(key, KEYS[2])
return 1`,
    /** KEYS: a hash. Replies with the clock and all values. */
    all: `${clock}${state} return { text(now), redis.call('HVALS', key) }`,
    /** KEYS: a hash. ARGV: a field. */
    one: `${clock}${state} return { text(now), get(ARGV[1]) or '' }`,
    /** KEYS: pace. Replies with only the clock when the pace has expired. */
    pace: `${clock}${state}
if get('over') then return { text(now), '', '' } end
return { text(now), get('at') or '', get('pace') or '' }`,
    /** KEYS: controls. ARGV: run, kind, control. */
    tell: `${clock}${state}${keepFunction} set(ARGV[1] .. ' ' .. ARGV[2], ARGV[3]) keep(key) return 1`,
    /** KEYS: controls. ARGV: run. */
    controls: `${clock}${state}
local reply = { text(now) }
for _, kind in ipairs(${luaControlKinds}) do reply[#reply + 1] = get(ARGV[1] .. ' ' .. kind) or '' end
return reply`,
    /** KEYS: controls. ARGV: run. */
    clearControls: `${clock}${state}
for _, kind in ipairs(${luaControlKinds}) do redis.call('HDEL', key, ARGV[1] .. ' ' .. kind) end
return 1`,
    /** KEYS: runs, controls, workers. ARGV: maximum age of the last sign of life. */
    sweep: `${clock}${state}
for _, name in ipairs({ key, KEYS[3] }) do
  local all = redis.call('HGETALL', name)
  for i = 1, #all, 2 do
    if tonumber(string.match(all[i + 1], '^%S+')) < now - tonumber(ARGV[1]) then
      redis.call('HDEL', name, all[i])
      for _, kind in ipairs(${luaControlKinds}) do redis.call('HDEL', KEYS[2], all[i] .. ' ' .. kind) end
    end
  end
end
return 1`,
  };
}
