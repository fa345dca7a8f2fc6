import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { changeJsonFile } from '../../../base/disk/changed-file.ts';
import { readJsonFileIfAny } from '../../../base/disk/json-file.ts';
import { fieldFates, type KnownFates } from '../../../domain/terms.ts';
import type { Operation } from '../../operation/operation.ts';
import type { RunRecord } from './record.ts';

const targetSchema = z.object({
  base_url: z.string(),
  /** The first call from this state folder. */
  used_at: z.string().exactOptional(),
  /** The first completed run whose rows omitted fields. */
  partial_at: z.string().exactOptional(),
  /** Operations of which a row has succeeded there, with the SHA-256 of the user's module that defines each, or an empty text. */
  succeeded: z.record(z.string(), z.string()).exactOptional(),
  /** By operation: what a user saw or said of fields. */
  updates: z
    .record(
      z.string(),
      z.object({
        left_out: z.enum(fieldFates.leftOut).exactOptional(),
        cleared: z.enum(fieldFates.cleared).exactOptional(),
      }),
    )
    .exactOptional(),
});

type Entry = z.infer<typeof targetSchema>;

const fileSchema = z.object({ version: z.literal(1), targets: z.array(targetSchema) });

export interface Target {
  /** No run of the state folder has called the API. */
  readonly isNew: boolean;
  /** A run whose rows omitted fields was completed there. */
  readonly allowsPartial: boolean;
  readonly updates: Readonly<Record<string, KnownFates>>;
}

/** @param baseUrl normalized */
export async function lookUpTarget(stateDir: string, baseUrl: string): Promise<Target> {
  const known = (await read(stateDir)).find(({ base_url: url }) => url === baseUrl);
  const updates = Object.entries(known?.updates ?? {}).map(
    ([name, { left_out: leftOut, cleared }]) => [name, { leftOut, cleared }] as const,
  );
  return {
    isNew: known?.used_at === undefined,
    allowsPartial: known?.partial_at !== undefined,
    updates: Object.fromEntries(updates),
  };
}

/**
 * Whether a completed run shows that a user accepts omitted fields. A retry or an undo does not: it repeats rows, perhaps of a run that
 * stopped at its canary.
 */
export function grantsPartial({
  plan,
  retryOf,
  undoOf,
}: Pick<RunRecord, 'plan' | 'retryOf' | 'undoOf'>): boolean {
  return plan.partial > 0 && (retryOf ?? undoOf) === undefined;
}

export function rememberTarget(stateDir: string, baseUrl: string, what: 'used' | 'partial'): Promise<void> {
  const at = new Date().toISOString();
  return changeTarget(stateDir, baseUrl, ({ used_at = at, partial_at = at }) =>
    what === 'used' ? { used_at } : { used_at, partial_at },
  );
}

/** The names of those operations of which a row has succeeded there. One of a changed module is another operation. */
export async function succeededBefore(
  stateDir: string,
  baseUrl: string,
  operations: readonly Pick<Operation, 'name' | 'module'>[],
): Promise<readonly string[]> {
  const { succeeded = {} } = (await read(stateDir)).find(({ base_url: url }) => url === baseUrl) ?? {};
  return operations.filter(({ name, module = '' }) => succeeded[name] === module).map(({ name }) => name);
}

export function rememberSuccess(
  stateDir: string,
  baseUrl: string,
  operations: readonly Pick<Operation, 'name' | 'module'>[],
): Promise<void> {
  return changeTarget(stateDir, baseUrl, ({ succeeded }) => ({
    succeeded: {
      ...succeeded,
      ...Object.fromEntries(operations.map(({ name, module = '' }) => [name, module])),
    },
  }));
}

export function rememberFates(
  stateDir: string,
  baseUrl: string,
  operations: readonly string[],
  { leftOut, cleared }: KnownFates,
): Promise<void> {
  const fates = { ...(leftOut && { left_out: leftOut }), ...(cleared && { cleared }) };
  return changeTarget(stateDir, baseUrl, ({ updates }) => {
    const changed = operations.map((name) => [name, { ...updates?.[name], ...fates }] as const);
    return { updates: { ...updates, ...Object.fromEntries(changed) } };
  });
}

async function changeTarget(
  stateDir: string,
  baseUrl: string,
  change: (known: Partial<Entry>) => Partial<Entry>,
): Promise<void> {
  await changeJsonFile(fileOf(stateDir), fileSchema, (file) => {
    const { targets = [] } = file ?? {};
    const known = targets.find(({ base_url: url }) => url === baseUrl);
    const target = { ...known, ...change(known ?? {}), base_url: baseUrl };
    if (isDeepStrictEqual(target, known)) return undefined;
    return { version: 1 as const, targets: [...targets.filter((one) => one !== known), target] };
  });
}

/** A damaged file counts as missing: the user is asked again. */
async function read(stateDir: string): Promise<readonly Entry[]> {
  return (await readJsonFileIfAny(fileOf(stateDir), fileSchema))?.targets ?? [];
}

function fileOf(stateDir: string): string {
  return join(stateDir, 'targets.json');
}
