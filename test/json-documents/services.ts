import { z } from 'zod';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { interrupted, object, runId } from './parts.ts';
import { refusedPlan } from './plan.ts';
import { report } from './runs.ts';

/** What the commands print that serve until they are stopped, and those that look after a machine. */

const port = z.int().min(1).max(65_535);
const pid = z.int().describe('of this process');

export const inboxManifest = object('a manifest that was run (one per line)', {
  name: z.string(),
  run: runId.nullable().describe('null when no run has ended'),
  exit_code: z.union(Object.values(exitCodes).map((code) => z.literal(code))),
  path: z.string().describe('where the manifest is now'),
  result: z
    .union([report, refusedPlan, interrupted])
    .nullable()
    .describe('the document of cqbatch run; null when nothing was run'),
});

export const inboxManifests = object('all manifests, with --once', {
  manifests: z.array(inboxManifest),
  growing: z.array(z.string()).describe('names of files that are still being written'),
  unusable: z.array(z.string()).describe('names of files that stay where they are'),
});

export const workerStopped = object('that the worker has stopped', { state: z.literal('stopped') });

export const dashboardAddress = object('the address of the page, at the start', {
  url: z.string(),
  control_url: z.string().nullable().describe('opens once, with --control'),
  port,
  pid,
});

export const sandboxAddress = object('the address and a token, at the start', {
  url: z.string(),
  port,
  pid,
  token: z.string().describe('the first, if there are several'),
});

export const pruned = object('the runs that were removed', {
  removed: z.array(runId),
  kept: z.int().min(0).describe('number of runs'),
  bytes: z.int().min(0).describe('bytes removed'),
  dry_run: z.boolean().describe('whether nothing was removed yet'),
});

const path = z.string().describe('path of a file');

export const initialized = object('the files that were written', {
  written: z.array(path),
  kept: z.array(path).describe('files that were there before'),
});

export const findings = object('the checks', {
  ok: z.boolean().describe('whether no check has failed'),
  checks: z.array(
    z.strictObject({
      check: z.enum([
        ...(['Node', 'state folder', 'disk', 'settings', 'datastore'] as const),
        ...(['API', 'proxy', 'TLS', 'token', 'clock'] as const),
      ]),
      state: z.enum(['ok', 'warning', 'failed']),
      text: z.string().describe('what was found, and what to do'),
    }),
  ),
});

export const version = z.strictObject({ version: z.string() }).describe('the version');

export const completion = object('the script for the shell', {
  shell: z.enum(['bash', 'zsh', 'fish']),
  script: z.string(),
});
