import { usageError } from '../../base/errors/errors.ts';
import { counted, size } from '../../base/text/format.ts';
import { clockTime } from '../../base/text/local-time.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { prunableRuns, removeRuns, runsWithAwaitedManifests, sizeOf } from '../../engine/run/record/prune.ts';
import { actualState, type RunRecord } from '../../engine/run/record/record.ts';
import type { RunStore } from '../../engine/run/record/store.ts';
import type { Flags } from '../config.ts';
import { openCommandContext } from '../context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { indentedText, styledState, table } from '../render/words.ts';

export async function prune(flags: Flags): Promise<ExitCode> {
  const { terminal, store, settings } = await openCommandContext(flags);
  const { keepLast: last, keepDays: days } = settings;
  if (last === undefined && days === undefined) {
    throw usageError(
      'NOTHING_TO_KEEP',
      'Which runs should be kept? --keep-last 30 keeps the newest 30 runs, --keep-days 90 keeps the runs of the last 90 days; with both, prune removes runs older than both limits.',
    );
  }
  const runs = await store.list((error) => terminal.warn(`warning: ${error.message}`));
  const removed = prunableRuns(runs, { last, days, ids: await runsWithAwaitedManifests(runs) }, Date.now());
  if (removed.length > 0) terminal.say(indentedText(table(removed.map(lineOf))));
  const mustAsk = removed.length > 0 && !flags.dryRun;
  if (
    mustAsk &&
    !(await terminal.agrees(`Remove ${counted(removed.length, 'run')} with all files?`, flags.yes))
  ) {
    terminal.result({ removed: [], kept: runs.length, bytes: 0, dry_run: false }, 'Nothing was removed.');
    return exitCodes.usage;
  }
  const bytes = flags.dryRun ? await sizeOfAll(store, removed) : await removeRuns(store, removed);
  const what = flags.dryRun ? 'would be removed' : 'removed';
  terminal.result(
    {
      removed: removed.map(({ id }) => id),
      kept: runs.length - removed.length,
      bytes,
      dry_run: flags.dryRun === true,
    },
    `${counted(removed.length, 'run')} ${what} (${size(bytes)}), ${runs.length - removed.length} kept`,
  );
  return exitCodes.success;
}

function lineOf(run: RunRecord): readonly string[] {
  const at = run.states.at(-1)?.at;
  const when = at === undefined ? '' : clockTime(new Date(at));
  return [run.id, styledState(actualState(run)), when, escapeInvisible(run.manifest.name)];
}

async function sizeOfAll(store: RunStore, runs: readonly RunRecord[]): Promise<number> {
  let bytes = 0;
  for (const { id } of runs) bytes += await sizeOf(store.folder(id));
  return bytes;
}
