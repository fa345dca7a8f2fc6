import { join } from 'node:path';
import { z } from 'zod';
import { changeJsonFile, readJsonFileIfAny } from '../../../base/disk/json-file.ts';
import type { RunRecord } from './record.ts';

const targetSchema = z.object({
  base_url: z.string(),
  /** First call by a run of this state folder, ISO 8601 UTC. */
  used_at: z.string(),
  /** First completed run whose rows omitted fields, ISO 8601 UTC. */
  partial_at: z.string().exactOptional(),
});

const fileSchema = z.object({ version: z.literal(1), targets: z.array(targetSchema) });

export interface Target {
  /** Whether no run of the state folder has called it. */
  readonly isNew: boolean;
  /** Whether a run whose rows omitted fields was completed there. */
  readonly allowsPartial: boolean;
}

/** Looks up an API in `targets.json` of a state folder, by its normalized base URL. */
export async function lookUpTarget(stateDir: string, baseUrl: string): Promise<Target> {
  const known = (await read(stateDir)).find(({ base_url: url }) => url === baseUrl);
  return { isNew: known === undefined, allowsPartial: known?.partial_at !== undefined };
}

/**
 * Whether a completed run shows that a user accepts omitted fields at its API: only a run of a user's manifest does. A retry or an undo
 * repeats rows, perhaps of a run that stopped at its canary.
 */
export function grantsPartial({
  plan,
  retryOf,
  undoOf,
}: Pick<RunRecord, 'plan' | 'retryOf' | 'undoOf'>): boolean {
  return plan.partial > 0 && (retryOf ?? undoOf) === undefined;
}

/** Records that an API is called, or that a run whose rows omitted fields was completed there. */
export function rememberTarget(stateDir: string, baseUrl: string, what: 'used' | 'partial'): Promise<void> {
  return changeJsonFile(fileOf(stateDir), fileSchema, (file) => {
    const { targets = [] } = file ?? {};
    const known = targets.find(({ base_url: url }) => url === baseUrl);
    if (known !== undefined && (what === 'used' || known.partial_at !== undefined)) return undefined;
    const at = new Date().toISOString();
    const target = {
      used_at: at,
      ...known,
      base_url: baseUrl,
      ...(what === 'partial' && { partial_at: at }),
    };
    return { version: 1 as const, targets: [...targets.filter((one) => one !== known), target] };
  });
}

/** Treats a damaged file as missing: the user is asked again. */
async function read(stateDir: string): Promise<z.infer<typeof fileSchema>['targets']> {
  return (await readJsonFileIfAny(fileOf(stateDir), fileSchema))?.targets ?? [];
}

function fileOf(stateDir: string): string {
  return join(stateDir, 'targets.json');
}
