import { hashFile } from '../../../base/disk/hash-file.ts';
import { withTemporaryFolder } from '../../../base/disk/owned-folder.ts';
import { usageError } from '../../../base/errors/errors.ts';
import { counted } from '../../../base/text/format.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import { isActive } from '../../../engine/cluster/entries.ts';
import { stageManifest } from '../../../engine/manifest/stage.ts';
import { inputKind } from '../../../engine/manifest/text/source.ts';
import { commandsOf } from '../../../engine/report/next-steps.ts';
import { endFactsOf } from '../../../engine/run/record/ending.ts';
import {
  actualState,
  endFactsOfRun,
  endOf,
  isHaltedByGuard,
  type RunRecord,
} from '../../../engine/run/record/record.ts';
import { openRunRows, refuseChangedRows } from '../../../engine/run/record/run-rows.ts';
import type { RunStore } from '../../../engine/run/record/store.ts';
import { rewriteReport } from '../../../engine/run/report/report-run.ts';
import { findRecord, unfinishedRun } from '../../../engine/run/work/find-run.ts';
import { givenRowOptions, rowOptions } from '../../../settings/run-options.ts';
import { defaults, optionInWords } from '../../../settings/settings.ts';
import type { Flags } from '../../config.ts';
import { type CommandContext, type Context, openCommandContext } from '../../context.ts';
import { type ExitCode, exitCodeOf } from '../../exit-codes.ts';
import type { EndedRun } from '../../render/ended-run.ts';
import { stepLines } from '../../render/summary.ts';
import { outcomeTexts, reasonText } from '../../render/words.ts';
import type { Terminal } from '../../terminal.ts';
import { differingOptions, tomorrowText } from '../options.ts';
import { execute } from './execute.ts';
import { readingManifest } from './planned-run.ts';
import { busyWith, changesOfResume, refuseUnlessResumable, whatContinues } from './resumed-record.ts';
import { runWhenFree } from './run-scope.ts';
import { submitResumed } from './submit-resumed.ts';

export async function resume(id: string | undefined, flags: Flags): Promise<ExitCode> {
  if (flags.submit) {
    const context = await openCommandContext(flags);
    return submitResumed(context, await findRecord(context.store, id, unfinishedRun));
  }
  return runWhenFree(flags, `resume ${id ?? ''}`.trim(), async (context) => {
    const record = await findRecord(context.store, id, unfinishedRun);
    refuseUnlessResumable(record);
    return resumeRun(context, record);
  });
}

export async function resumeRun(context: Context, record: RunRecord): Promise<ExitCode> {
  const { terminal, store } = context;
  await refuseChangedRows(store, record);
  const changes = changesOfResume(context, record);
  const notes = [await tomorrowText(context), await whatContinues(store, record, 'this command')];
  // Say nothing of the calls to come before nothing can refuse them any more.
  const onStarted: Context['onStarted'] = (started, stop) => {
    for (const note of notes) if (note !== undefined) terminal.say(note);
    context.onStarted?.(started, stop);
  };
  return execute({ ...context, onStarted }, { ...record, ...changes });
}

/**
 * For `run --or-resume`: continues a run unless it has ended or a guard halted it.
 *
 * @throws a usage error for another manifest or other row options; a busy error while in progress
 */
export async function continueRun(context: Context, record: RunRecord, source: string): Promise<ExitCode> {
  const { terminal, store } = context;
  const checked = await refuseOtherManifest(context, record, source);
  if (typeof checked === 'number') return checked;
  await refuseOtherOptions(context, record);
  const state = actualState(record);
  if (isActive(state)) throw busyWith(record);
  if (isHaltedByGuard(record) && !context.flags.resumeHalted) return stillHalted(context, record);
  const ending = endFactsOf({ state });
  if (ending?.next !== 'retry') return resumeRun(context, record);

  context.metrics?.foundFinishedRun();
  const ended = await endedRun(store, record);
  context.onEnded?.(ended);
  sayEnded(terminal, ended);
  // A completed run has nothing left to do, even if rows failed: return its exit code.
  return ending.exitCode;
}

/** Reports a halted run without continuing it: otherwise each start by cron would call more rows. */
async function stillHalted(context: Context, record: RunRecord): Promise<ExitCode> {
  const ended = await endedRun(context.store, record);
  context.onEnded?.(ended);
  const reason = reasonText(endOf(record), record.states.at(-1)?.reason);
  if (reason !== undefined) context.terminal.warn(reason);
  sayEnded(context.terminal, ended);
  return exitCodeOf(endOf(record), ended.summary.outcomes);
}

function sayEnded(terminal: Terminal, { record, summary: { outcomes }, steps }: EndedRun): void {
  const { id, plan } = record;
  const rows = `${counted(plan.rows, 'row')}, ${outcomeTexts(outcomes).join(', ')}`;
  const lines = [
    `Run ${id} ${endFactsOfRun(record)?.sentence}: ${rows}. Nothing was sent.`,
    ...stepLines(steps),
  ];
  terminal.result(
    { run: id, state: actualState(record), outcomes, next: commandsOf(steps) },
    lines.join('\n'),
  );
}

/** A run that ended before the command. Makes the report if it is missing. */
export async function endedRun(store: RunStore, record: RunRecord): Promise<EndedRun> {
  const { summary, steps } = await rewriteReport(store, record);
  return { record, summary, steps, endedBefore: true };
}

/** Compares the manifest with an existing run. @throws a usage error `RUN_EXISTS` if the run has another manifest */
export async function refuseOtherManifest(
  context: CommandContext,
  { id, manifest, rows }: RunRecord,
  source: string,
): Promise<ExitCode | undefined> {
  if (context.planFile?.planned.digest.sha256 === rows.sha256) return undefined;
  const { maxManifestSize: maxBytes = defaults.maxManifestSize } = context.settings;
  const isFile = source !== '-' && (await inputKind(source, source, { maxBytes })) === 'file';
  const sha256 = isFile ? (await hashFile(source)).sha256 : await hashPipe(context, source);
  if (typeof sha256 === 'number') return sha256;
  if (sha256 === manifest.sha256) return undefined;
  const name = escapeInvisible(manifest.name);
  const difference =
    manifest.name === source ? `but ${name} has changed since` : `of another manifest (${name})`;
  throw usageError('RUN_EXISTS', `Run ${id} already exists, ${difference}: choose another --run-id.`);
}

/** The SHA-256 of input that can be read only once. */
async function hashPipe(context: CommandContext, source: string): Promise<string | ExitCode> {
  const reading = rowOptions(context.flags, context.settings);
  return withTemporaryFolder(context.store.stateDir, 'plan', (folder) =>
    readingManifest(context, async (input) => (await stageManifest(source, folder, input, reading)).sha256),
  );
}

/** Refuses row options that differ from those of an existing run. Omitted options keep the run's values. */
async function refuseOtherOptions({ flags, settings, store }: Context, record: RunRecord): Promise<void> {
  const { id, options } = record;
  const { head } = await openRunRows(store, record);
  const runOptions = { clearToken: head.clear_token, ...head.reading, onConflict: options.onConflict };
  const [other] = differingOptions(runOptions, { ...runOptions, ...givenRowOptions(flags, settings) });
  if (other === undefined) return;
  const flag = optionInWords(other.name);
  throw usageError(
    'RUN_EXISTS',
    `Run ${id} already exists, and was started ${other.valueBefore === undefined ? `without ${flag}` : `with another ${flag}`}: its rows ` +
      'would differ. Choose another --run-id.',
  );
}
