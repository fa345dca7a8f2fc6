import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from '../files.ts';

const targetSchema = z.object({
  base_url: z.string(),
  /** When a run of this state folder first called it, ISO 8601 UTC. */
  used_at: z.string(),
  /** When a run that left fields out was first completed there. */
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
  const text = JSON.stringify({ version: 1, targets: [...others, target] }, null, 2);
  await writeFileAtomically(join(stateDir, 'targets.json'), `${text}\n`);
}

/** A damaged file is worth no more than none: what it knew is asked again. */
async function read(stateDir: string): Promise<z.infer<typeof fileSchema>['targets']> {
  try {
    return fileSchema.parse(JSON.parse(await readFile(join(stateDir, 'targets.json'), 'utf8'))).targets;
  } catch {
    return [];
  }
}
