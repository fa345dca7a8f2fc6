import { controlKinds } from './entries.ts';
import { farthestMs, leadMs, losingRestMs, rateTtlMs, sharesPerWorkerMs, silentMs } from './timeline.ts';

/**
 * `timeline.ts` for Redis: the state is the hash KEYS[1], a worker's places are its field `w:<id>`. With 17 digits, numbers lose no
 * fraction.
 */

/** Milliseconds. */
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
 * ARGV: worker, want, held, need, active, aheadMs, leadInMs. Replies with the parts of `SlotReply`, as texts. The field `shares` is: its
 * time; the number of workers, and of those that want to call; the totals of need, active and granted; the level; which workers get one
 * place more. All workers are read only when it is too old.
 */
const takeBody = `
local worker, want, held, need = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local active, ahead, leadIn = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local known = redis.call('HMGET', key, 'shares', 'w:' .. worker, 'cap', 'until', 'restUntil', 'gap', 'next')
local cap = tonumber(known[3] or '') or 0

local function places(value)
  local at, needed, calls, granted = string.match(value or '', '^(%S+) (%S+) (%S+) (%S+)$')
  return { at = tonumber(at or ''), need = tonumber(needed or '0'), active = tonumber(calls or '0'),
    granted = tonumber(granted or '0') }
end
local all = { count = 0, callers = 0, need = 0, active = 0, granted = 0 }
local function count(each, by)
  all.count, all.need, all.active = all.count + by, all.need + by * each.need, all.active + by * each.active
  all.granted = all.granted + by * each.granted
  if each.need > 0 then all.callers = all.callers + by end
end

local function workOutShares(needs)
  local ids, sorted = {}, {}
  for id, each in pairs(needs) do ids[#ids + 1] = id sorted[#sorted + 1] = each end
  table.sort(ids)
  table.sort(sorted)
  local number, remaining = #ids, cap
  all.level, all.from, all['until'] = math.floor(cap / math.max(1, number)), nil, nil
  for index, each in ipairs(sorted) do
    all.level = math.floor(remaining / (number - index + 1))
    if each > all.level then
      remaining = remaining - all.level * (number - index + 1)
      break
    end
    remaining = remaining - each
  end
  local turn = number > cap and math.floor(now / 1000) or 0
  local first, more = number - turn % math.max(1, number), 0
  for step = 0, number - 1 do
    local id = ids[(first + step) % number + 1]
    if needs[id] > all.level then
      more = more + 1
      if more == remaining then all.from, all['until'] = ids[first % number + 1], id break end
    end
  end
end

local at, number, callers, needed, calls, granted, level, from, to =
  string.match(known[1] or '', '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S*) (%S*)$')
at, number = tonumber(at or ''), tonumber(number or '0')
local own = { need = need, active = active }
if not at or now < at or now >= at + number * ${sharesPerWorkerMs} then
  local fields, needs = redis.call('HGETALL', key), {}
  for i = 1, #fields, 2 do
    local field = fields[i]
    if string.sub(field, 1, 2) == 'w:' and field ~= 'w:' .. worker then
      local each = places(fields[i + 1])
      if each.at < now - ${silentMs} or each.at > now + ${silentMs} then
        redis.call('HDEL', key, field)
      else
        count(each, 1)
        if each.need > 0 then needs[string.sub(field, 3)] = each.need end
      end
    end
  end
  at = now
  if need > 0 then needs[worker] = need end
  workOutShares(needs)
else
  all = { count = number, callers = tonumber(callers), need = tonumber(needed), active = tonumber(calls),
    granted = tonumber(granted), level = tonumber(level), from = from ~= '' and from, ['until'] = to }
  if known[2] then count(places(known[2]), -1) end
end

local elsewhere, free = all.active, cap - all.granted
own.granted = 0
count(own, 1)
local function share()
  if need <= 0 then return 0 end
  if cap >= all.need then return need + math.floor((cap - all.need) / all.callers) end
  local hasMore = all.from and ((all.from <= all['until'] and worker >= all.from and worker <= all['until'])
    or (all.from > all['until'] and (worker >= all.from or worker <= all['until'])))
  return math.min(need, all.level + (hasMore and 1 or 0))
end
local granted = math.max(0, math.min(share(), free))
all.granted = all.granted + math.max(granted, active)

local validUntil, gap, next = tonumber(known[4] or '0'), tonumber(known[6] or ''), tonumber(known[7] or '')
local isSet = validUntil > now and validUntil <= now + ${rateTtlMs}
local rest = math.max(0, tonumber(known[5] or '0') - now)
local function reply(slots, from, next)
  redis.call('HSET', key, 'w:' .. worker,
    table.concat({ text(now), text(need), text(active), text(math.max(granted, active)) }, ' '),
    'shares', table.concat({ text(at), text(all.count), text(all.callers), text(all.need), text(all.active),
      text(all.granted), text(all.level), all.from or '', all.from and all['until'] or '' }, ' '),
    unpack(next and { 'next', text(next) } or {}))
  return {
    text(now), text(slots), text(from), gap and text(gap) or '', isSet and '1' or '0', text(granted), text(elsewhere),
    text(rest), text(granted > 0 and math.min(all.callers, cap) or all.callers)
  }
end
if not isSet or not gap or rest > 0 then return reply(0, 0) end
local free = math.min(next or now + ahead, now + ${farthestMs} + gap)
local from = math.max(now + leadIn, free)
local function room(aheadOf) return math.floor((now + aheadOf - from) / gap) + 1 end
local otherCallers = need > 0 and all.callers - 1 or all.callers
local part = math.max(1, math.ceil(ahead / gap / (otherCallers + 1)))
local slots = math.min(want, math.max(math.min(part - held, room(ahead)), room(ahead / 2)))
if slots < 1 then return reply(0, 0, free ~= next and free or nil) end
return reply(slots, from, from + slots * gap)
`;

const kinds = `{ ${controlKinds.map((kind) => `'${kind}'`).join(', ')} }`;

const kept = `
local function keep(...) for _, name in ipairs({ ... }) do redis.call('PEXPIRE', name, 86400000) end end
`;

/** @param clock Lua lines that read it */
export function timelineScripts(clock: string) {
  return {
    take: `${clock}${state}${takeBody}`,
    setRate: `${clock}${state}${lead}${setRateBody}return 1`,
    /** Also publishes a pace: KEYS[2], ARGV[5]. */
    decide: `${clock}${state}${lead}${kept}${setRateBody}
redis.call('HSET', KEYS[2], 'at', text(now), 'pace', ARGV[5])
redis.call('HDEL', KEYS[2], 'over')
keep(key, KEYS[2])
return 1`,
    /**
     * KEYS: timeline, pace, workers, runs. ARGV: worker, its entry, whether it wants the lead. Replies with: now, whether it leads (2: as
     * before), when the pace was published, the pace; for the leader also the workers with recent beats, and the runs in progress.
     */
    beat: `${clock}${state}${lead}${kept}
redis.call('HSET', KEYS[3], ARGV[1], text(now) .. ' ' .. ARGV[2])
keep(KEYS[3])
local hasLed = get('leader') == ARGV[1]
local wantsLead = ARGV[3] == '1' or math.abs(now - (getNumber('runAt') or 0)) < ${silentMs}
local leads = wantsLead and lead(ARGV[1])
local pace = redis.call('HMGET', KEYS[2], 'at', 'pace')
local reply = { text(now), leads and (hasLed and 2 or 1) or 0, pace[1] or '', pace[2] or '' }
if leads then
  local workers, runs = {}, {}
  for _, entry in ipairs(redis.call('HVALS', KEYS[3])) do
    if tonumber(string.match(entry, '^%S+')) > now - ${silentMs} then workers[#workers + 1] = entry end
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
  local at, need, active = string.match(fields[i + 1], '^(%S+) (%S+) (%S+) %S+$')
  if string.sub(fields[i], 1, 2) == 'w:' and tonumber(at) > now - ${silentMs} and need .. active ~= '00' then return 0 end
end
redis.call('HSET', key, 'leadUntil', text(now), 'until', '0', 'next', text(now))
redis.call('HSET', KEYS[2], 'over', '1')
return 1`,
    /** KEYS: timeline, workers, pace. ARGV: worker. Ends the pace if no other worker may use it. */
    leave: `${clock}${state}
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('HDEL', key, 'w:' .. ARGV[1], 'shares')
if get('leader') ~= ARGV[1] then return 1 end
set('leader', nil)
for _, entry in ipairs(redis.call('HVALS', KEYS[2])) do
  if tonumber(string.match(entry, '^%S+')) > now - ${silentMs} then return 1 end
end
redis.call('HSET', KEYS[3], 'over', '1')
return 1`,
    /** KEYS: runs, timeline. ARGV: id, key, entry, whether the run is in progress. Replies with 0 when another run has this id. */
    putRun: `${clock}${state}${kept}
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
    tell: `${clock}${state}${kept} set(ARGV[1] .. ' ' .. ARGV[2], ARGV[3]) keep(key) return 1`,
    /** KEYS: controls. ARGV: run. */
    controls: `${clock}${state}
local reply = { text(now) }
for _, kind in ipairs(${kinds}) do reply[#reply + 1] = get(ARGV[1] .. ' ' .. kind) or '' end
return reply`,
    /** KEYS: controls. ARGV: run. */
    clearControls: `${clock}${state}
for _, kind in ipairs(${kinds}) do redis.call('HDEL', key, ARGV[1] .. ' ' .. kind) end
return 1`,
    /** KEYS: runs, controls, workers. ARGV: maximum age of the last sign of life. */
    sweep: `${clock}${state}
for _, name in ipairs({ key, KEYS[3] }) do
  local all = redis.call('HGETALL', name)
  for i = 1, #all, 2 do
    if tonumber(string.match(all[i + 1], '^%S+')) < now - tonumber(ARGV[1]) then
      redis.call('HDEL', name, all[i])
      for _, kind in ipairs(${kinds}) do redis.call('HDEL', KEYS[2], all[i] .. ' ' .. kind) end
    end
  end
end
return 1`,
  };
}
