import { z } from 'zod';
import { overlapRules, scheduleSchema } from '../../src/daemon/schedule/schedule.ts';
import { actor, failure, object, outcomeCounts, processOnHost, runId, runState, time } from './parts.ts';

/** What `cqbatch schedule …` prints. */

const { changes } = scheduleSchema.shape;

const occasion = object('the result of a scheduled time', {
  due: time,
  until: time.nullable().describe('of several occasions in one entry: when the last was due'),
  at: time.nullable().describe('when the daemon handled the due time'),
  result: z.enum(['began', 'idle', 'skipped', 'missed', 'failed']).describe('the result'),
  triggered_by: actor.nullable().describe('null when the pattern was due'),
  reason: z.string().nullable().describe('of the trigger'),
  runs: z.array(
    z.strictObject({
      run: runId,
      state: runState.nullable().describe('null when the run was removed'),
      outcomes: outcomeCounts.nullable(),
    }),
  ),
  refused: z.array(z.string()).describe('names of manifests in the inbox that were refused'),
  because: z.string().nullable().describe('of `skipped`: `paused`, or the run in progress'),
  error: failure.shape.error.nullable(),
});

export const schedule = object('a schedule', {
  schedule: z.string().describe('name'),
  cron: z.string(),
  tz: z.string().describe('time zone of the IANA database'),
  manifest: z.string().nullable().describe('path'),
  inbox: z.string().nullable().describe('path'),
  options: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
    .describe('run options, as the user gave them'),
  overlap: z.enum(overlapRules),
  catch_up_s: z.number().nullable().describe('how late a run may start, in seconds; null: not at all'),
  paused: z.boolean(),
  next: z.array(time).describe('the next five times; empty while paused'),
  triggered_at: time.nullable().describe('a trigger that no daemon has seen yet'),
  waiting: time.nullable().describe('when the run that waits for the run in progress was due'),
  last: occasion.nullable(),
  changes: z.array(
    z.strictObject({
      what: changes.element.shape.what,
      at: time,
      by: actor.exactOptional(),
      reason: z.string().exactOptional(),
    }),
  ),
});

export const scheduleList = object('the schedules', {
  schedules: z.array(schedule),
  daemon: processOnHost.nullable().describe('the daemon that starts the runs; null: none is running'),
});

export const scheduleHistory = object('result of each scheduled time, latest first', {
  schedule: z.string().describe('name'),
  history: z.array(occasion),
});

const runInProgress = runId.nullable().describe('the run that is in progress');

export const scheduleTriggered = object('when the schedule was triggered', {
  schedule: z.string().describe('name'),
  triggered_at: time,
  run_in_progress: runInProgress,
});

export const scheduleRemoved = object('whether the schedule was removed', {
  schedule: z.string().describe('name'),
  removed: z.boolean().describe('false if the user answered no'),
  run_in_progress: runInProgress
    .exactOptional()
    .describe('the run that continues; absent when nothing was removed'),
});
