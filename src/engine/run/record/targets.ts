import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { changeJsonFile } from '../../../base/disk/changed-file.ts';
import { readJsonFileIfAny } from '../../../base/disk/json-file.ts';
import type { Operation } from '../../operation/operation.ts';

const targetSchema = z.object({
  base_url: z.string(),
  /** When a run of this state folder first called the API. */
  used_at: z.string().exactOptional(),
  /** Operations of which a row has succeeded, with the SHA-256 of the user's module that defines each, or an empty text. */
  succeeded: z.record(z.string(), z.string()).exactOptional(),
});

type Target = z.infer<typeof targetSchema>;

const fileSchema = z.object({ version: z.literal(1), targets: z.array(targetSchema) });

/**
 * Whether no run of the state folder has called the API.
 *
 * @param baseUrl normalized
 */
export async function isNewTarget(stateDir: string, baseUrl: string): Promise<boolean> {
  return (await readTarget(stateDir, baseUrl))?.used_at === undefined;
}

export function rememberUse(stateDir: string, baseUrl: string): Promise<void> {
  return changeTarget(stateDir, baseUrl, ({ used_at = new Date().toISOString() }) => ({ used_at }));
}

/** Operations of which a row has succeeded at a base URL. An operation of a changed module is another operation. */
export async function succeededBefore(
  stateDir: string,
  baseUrl: string,
  operations: readonly Pick<Operation, 'name' | 'module'>[],
): Promise<readonly string[]> {
  const { succeeded = {} } = (await readTarget(stateDir, baseUrl)) ?? {};
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

async function changeTarget(
  stateDir: string,
  baseUrl: string,
  change: (known: Partial<Target>) => Partial<Target>,
): Promise<void> {
  await changeJsonFile(fileOf(stateDir), fileSchema, (file) => {
    const { targets = [] } = file ?? {};
    const known = targets.find(({ base_url: url }) => url === baseUrl);
    const target = { ...known, ...change(known ?? {}), base_url: baseUrl };
    if (isDeepStrictEqual(target, known)) return undefined;
    return { version: 1 as const, targets: [...targets.filter((one) => one !== known), target] };
  });
}

/** What the file says of a base URL. A damaged file counts as missing: the user is asked again. */
async function readTarget(stateDir: string, baseUrl: string): Promise<Target | undefined> {
  const file = await readJsonFileIfAny(fileOf(stateDir), fileSchema);
  return file?.targets.find(({ base_url: url }) => url === baseUrl);
}

function fileOf(stateDir: string): string {
  return join(stateDir, 'targets.json');
}
