import { join } from 'node:path';
import { z } from 'zod';
import { readJsonFileIfAny, writeJsonFile } from '../../disk/json-file.ts';
import type { RunRecord } from './record.ts';

const targetSchema = z.object({
  base_url: z.string(),
  /** When a run of this state folder first called it, ISO 8601 UTC. */
  used_at: z.string(),
  /** When a run that left fields out, and was let through to its end, was first completed there. */
  partial_at: z.string().exactOptional(),
});

const fileSchema = z.object({ version: z.literal(1), targets: z.array(targetSchema) });

/** What a state folder remembers of an API. */
export interface Target {
  /** Whether no run of the state folder has called it. */
  readonly isNew: boolean;
  /** Whether a run that left fields out has come to its end there. */
  readonly allowsPartial: boolean;
}

/** Looks up what `targets.json` of a state folder says of an API, by its normalised base URL. */
export async function lookUpTarget(stateDir: string, baseUrl: string): Promise<Target> {
  const known = (await read(stateDir)).find(({ base_url: url }) => url === baseUrl);
  return { isNew: known === undefined, allowsPartial: known?.partial_at !== undefined };
}

/**
 * Whether a completed run shows that a user lets rows leave fields out at its API: the rows were those of a manifest which
 * the user gave. A retry or an undo repeats rows of a run, perhaps of one that was stopped after its canary.
 */
export function grantsPartial({
  plan,
  retryOf,
  undoOf,
}: Pick<RunRecord, 'plan' | 'retryOf' | 'undoOf'>): boolean {
  return plan.partial > 0 && (retryOf ?? undoOf) === undefined;
}

/** Remembers that an API is called, or that a run which left fields out has come to its end there. */
export async function rememberTarget(
  stateDir: string,
  baseUrl: string,
  what: 'used' | 'partial',
): Promise<void> {
  const targets = await read(stateDir);
  const known = targets.find(({ base_url: url }) => url === baseUrl);
  if (known !== undefined && (what === 'used' || known.partial_at !== undefined)) return;
  const at = new Date().toISOString();
  const target = { used_at: at, ...known, base_url: baseUrl, ...(what === 'partial' && { partial_at: at }) };
  const others = targets.filter((one) => one !== known);
  await writeJsonFile(fileOf(stateDir), { version: 1, targets: [...others, target] });
}

/** A damaged file is treated as missing: what it knew is asked again. */
async function read(stateDir: string): Promise<z.infer<typeof fileSchema>['targets']> {
  return (await readJsonFileIfAny(fileOf(stateDir), fileSchema))?.targets ?? [];
}

function fileOf(stateDir: string): string {
  return join(stateDir, 'targets.json');
}
