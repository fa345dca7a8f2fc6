import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { z } from 'zod';
import { steadyNow, steadyTimeOf } from '../../base/async/clock.ts';
import type { LimitedApi } from '../../domain/terms.ts';
import type { Datastore } from '../datastore/datastore.ts';
import { keyOfApi } from '../datastore/rate-group.ts';
import {
  type Control,
  controlSchema,
  forgottenAfterMs,
  goneAfterMs,
  isPresent,
  ofHighestPriority,
  type PublishedPace,
  paceEntrySchema,
  type RunEntry,
  runEntrySchema,
  type WorkerEntry,
  workerEntrySchema,
} from './entries.ts';
import { type Membership, rateCommandOf } from './membership.ts';
import type { SlotReply } from './timeline.ts';
import { serverClock, timelineScripts } from './timeline-script.ts';

/**
 * The processes that share a Redis: runs and workers, the pace of each API, and users' commands to runs. The data are hashes that expire,
 * dated by the clock of Redis. No lock depends on them, except that a run id belongs to the first run that uses it.
 */
export type Cluster = ReturnType<typeof openCluster>;

const scripts = timelineScripts(serverClock);

/** @throws for a datastore that is not shared */
export function openCluster({ prefix = '', runScript }: Datastore) {
  if (runScript === undefined) throw new Error('Only a shared datastore has a cluster.');
  const ask = (script: string, keys: readonly string[], ...args: readonly (string | number)[]) =>
    runScript(
      script,
      keys.map((key) => keyOf(prefix, key)),
      args,
    );
  return {
    /** @returns false, without writing, when another run has this id */
    async putRun(entry: RunEntry): Promise<boolean> {
      const { id, key, state } = entry;
      const keys = ['runs', apiKeys(entry).timeline];
      const isInProgress = state === 'running' ? 1 : 0;
      return (await ask(scripts.putRun, keys, id, key, JSON.stringify(entry), isInProgress)) === 1;
    },
    async runs(): Promise<readonly RunEntry[]> {
      const [now, entries] = (await ask(scripts.all, ['runs'])) as [string, string[]];
      return entries.flatMap((entry) => parseEntry(runEntrySchema, now, withoutKey(entry)));
    },
    async run(id: string): Promise<RunEntry | undefined> {
      const [now, entry] = (await ask(scripts.one, ['runs'], id)) as [string, string];
      return parseEntry(runEntrySchema, now, withoutKey(entry))[0];
    },
    /** @param withinMs also workers that have been silent for less than this time: they may be gone */
    async workers(api: LimitedApi, withinMs = goneAfterMs): Promise<readonly WorkerEntry[]> {
      const [now, entries] = (await ask(scripts.all, [apiKeys(api).workers])) as [string, string[]];
      return entries
        .flatMap((entry) => parseEntry(workerEntrySchema, now, entry))
        .filter((entry) => isPresent(entry, withinMs));
    },
    /** The pace of an API. Undefined once the last worker has left. */
    async pace(api: LimitedApi): Promise<PublishedPace | undefined> {
      const [now, at, pace] = (await ask(scripts.pace, [apiKeys(api).pace])) as [string, string, string];
      return readPace(now, at, pace);
    },
    async tell(runId: string, control: Control): Promise<void> {
      await ask(scripts.tell, ['controls'], runId, control.kind, `0 ${JSON.stringify(control)}`);
    },
    async controlsOf(runId: string): Promise<readonly Control[]> {
      const [now, ...controls] = (await ask(scripts.controls, ['controls'], runId)) as string[];
      return controls.flatMap((control) => parseEntry(controlSchema, now ?? '', control));
    },
    async clearControls(runId: string): Promise<void> {
      await ask(scripts.clearControls, ['controls'], runId);
    },
    async sweep(api: LimitedApi): Promise<void> {
      await ask(scripts.sweep, ['runs', 'controls', apiKeys(api).workers], forgottenAfterMs);
    },
    join: (api: LimitedApi, version: string): Membership => membershipOf(ask, api, version),
  };
}

type RunScript = (
  script: string,
  keys: readonly string[],
  ...args: readonly (string | number)[]
) => Promise<unknown>;

function membershipOf(ask: RunScript, { baseUrl, rateGroup }: LimitedApi, version: string): Membership {
  const api = { baseUrl, rateGroup };
  const keys = apiKeys(api);
  const id = randomUUID();
  const startedAt = new Date().toISOString();
  const program = { host: hostname(), pid: process.pid, version };
  const facts = { id, ...program, ...api, startedAt };
  let counted = { runs: [] as string[], workers: 1 };
  const readWorkers = rememberingReader(workerEntrySchema);
  const readRuns = rememberingReader(runEntrySchema);
  return {
    async beat(heartbeat, wantsLead) {
      const own = { ...facts, ...heartbeat };
      const [now, lead, at, paceText, workers = [], runs = []] = (await ask(
        scripts.beat,
        [keys.timeline, keys.pace, keys.workers, 'runs'],
        id,
        JSON.stringify(own),
        wantsLead ? 1 : 0,
      )) as [string, number, string, string, string[]?, string[]?];
      const leads = lead > 0;
      const others = readWorkers(
        now,
        workers.filter((entry) => !entry.includes(id)),
      );
      // Leave out paused runs: they call nothing, so their bounds must not hold other runs back.
      const running = readRuns(now, runs.map(withoutKey)).filter(
        (run) => run.baseUrl === baseUrl && run.rateGroup === rateGroup && run.state === 'running',
      );
      const live = running.filter((run) => isPresent(run));
      if (leads)
        counted = {
          runs: live.map((run) => run.id),
          workers: others.length + 1,
        };
      const reports = others.flatMap(({ id: from, traffic }) => (traffic ? [[from, traffic] as const] : []));
      return {
        leads,
        hasLed: lead === 2,
        reports: new Map([...reports, [id, heartbeat.traffic]]),
        hasRuns: running.length > 0,
        policies: new Map(ofHighestPriority(live).map(({ id: run, rate }) => [run, rate])),
        rows: live.reduce((sum, { rows, done = Number.NEGATIVE_INFINITY }) => sum + rows - done, 0),
        // The worker that keeps the lead has decided it.
        pace: lead === 2 ? undefined : readPace(now, at, paceText),
      };
    },
    async decide(pace) {
      const { rate, cap, restMs } = rateCommandOf(pace);
      const { restUntil: _, restsSince, ...decided } = pace;
      const restsSinceAgoMs = restsSince && steadyNow() - restsSince;
      const entry = JSON.stringify({ ...decided, ...counted, restMs, restsSinceAgoMs });
      const done = await ask(scripts.decide, [keys.timeline, keys.pace], id, rate ?? '', cap, restMs, entry);
      return done === 1;
    },
    async giveUpLead() {
      return (await ask(scripts.giveUpLead, [keys.timeline, keys.pace], id)) === 1;
    },
    async take({ want, need, active, aheadMs, leadInMs }) {
      const reply = await ask(scripts.take, [keys.timeline], id, want, need, active, aheadMs, leadInMs);
      return slotReply(reply as string[]);
    },
    async leaveCluster() {
      await ask(scripts.leave, [keys.timeline, keys.workers, keys.pace], id);
    },
  };
}

export function slotReply(reply: readonly string[]): SlotReply {
  const [now = 0, count = 0, from = 0, , , seats = 0, elsewhere = 0, restMs = 0, callers = 0] =
    reply.map(Number);
  const gap = reply[3] ?? '';
  return {
    now,
    count,
    from,
    isSet: reply[4] === '1',
    seats,
    elsewhere,
    callers,
    restMs,
    gap: gap === '' ? undefined : Number(gap),
  };
}

/** Reads entries, and remembers them by their text: most are read several times a second without a change. */
function rememberingReader<Entry>(schema: z.ZodType<Entry>) {
  let known = new Map<string, readonly Entry[]>();
  return (now: string, texts: readonly string[]): readonly Entry[] => {
    known = new Map(texts.map((text) => [text, known.get(text) ?? parseEntry(schema, now, text)]));
    return [...known.values()].flat();
  };
}

/** The entry, in a list. Empty for an entry of another version. */
function parseEntry<Entry>(schema: z.ZodType<Entry>, now: string, text: string): readonly Entry[] {
  const space = text.indexOf(' ');
  const ageMs = Number(now) - Number(text.slice(0, space));
  try {
    const entry = JSON.parse(text.slice(space + 1));
    const seenAt = new Date(Date.now() - Math.max(0, ageMs)).toISOString();
    const { data } = schema.safeParse({ ...entry, seenAt });
    return data === undefined ? [] : [data];
  } catch {
    return [];
  }
}

function readPace(now: string, at: string, text: string): PublishedPace | undefined {
  const [entry] = parseEntry(paceEntrySchema, now, `${at} ${text}`);
  if (entry === undefined) return undefined;
  const { restMs, restsSinceAgoMs, ...pace } = entry;
  const decidedAt = steadyTimeOf(Date.parse(entry.seenAt));
  return {
    ...pace,
    restUntil: restMs > 0 ? decidedAt + restMs : undefined,
    restsSince: restsSinceAgoMs === undefined ? undefined : decidedAt - restsSinceAgoMs,
  };
}

function withoutKey(text: string): string {
  return text.replace(/^(\S+) \S+ /, '$1 ');
}

export function keyOf(prefix: string, name: string): string {
  return `${prefix}:cluster:${name}`;
}

export function apiKeys(api: LimitedApi) {
  const key = keyOfApi(api);
  return {
    timeline: `${key}:timeline`,
    pace: `${key}:pace`,
    workers: `${key}:workers`,
  } as const;
}
