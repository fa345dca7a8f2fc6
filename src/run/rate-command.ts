import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster } from '../cluster/cluster.ts';
import { type RateCommand, rateCommandSchema } from '../cluster/entries.ts';
import { writeFileAtomically } from '../files.ts';
import { readWanted, watchLatest } from './control-command.ts';

/**
 * How one process wants another rate for a run that another one works on: like a control command, but apart from these, so
 * that a run that is paused stays so.
 */

const fileName = 'set-rate.json';

export async function writeRate(runFolder: string, command: RateCommand): Promise<void> {
  await writeFileAtomically(join(runFolder, fileName), `${JSON.stringify(command)}\n`);
}

/** Forgets what was wanted while somebody else worked on the run: its record says what came of it. */
export async function clearRate(runId: string, runFolder: string, cluster?: Cluster): Promise<void> {
  await rm(join(runFolder, fileName), { force: true });
  await cluster?.setRate(runId, null);
}

/** @param onRate is called with each rate that is wanted from now on */
export function watchRate(
  runId: string,
  runFolder: string,
  cluster: Cluster | undefined,
  onRate: (command: RateCommand) => void,
): { close(): void } {
  return watchLatest({
    fromFolder: () => readWanted(join(runFolder, fileName), rateCommandSchema),
    fromCluster: cluster && (() => cluster.rateOf(runId)),
    onLatest: (command) => {
      if (command !== undefined) onRate(command);
    },
  });
}
