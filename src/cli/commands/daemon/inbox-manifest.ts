import { join } from 'node:path';
import { exists } from '../../../base/disk/files.ts';
import { CqbatchError } from '../../../base/errors/errors.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import type { ClaimedManifest, ManifestEnding } from '../../../daemon/inbox/claimed-manifest.ts';
import { Inbox, type Taking } from '../../../daemon/inbox/inbox.ts';
import type { FinalFolder } from '../../../daemon/inbox/records.ts';
import {
  actualState,
  endOf,
  isHaltedByGuard,
  isOver,
  type RunRecord,
} from '../../../engine/run/record/record.ts';
import type { RunStore } from '../../../engine/run/record/store.ts';
import { isInProgress } from '../../../engine/run/work/find-run.ts';
import { lookUpRun } from '../../../library/place.ts';
import { defaults, type Settings } from '../../../settings/settings.ts';
import type { Context, RefusedManifest } from '../../context.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../../exit-codes.ts';
import { type EndedRun, endingText, finalFolderOf } from '../../render/ended-run.ts';
import { withoutMarks } from '../../render/style.ts';
import { callsHere } from '../options.ts';
import { execute } from '../run/execute.ts';
import { planRun } from '../run/planned-run.ts';
import { endedRun, resumeRun } from '../run/resume.ts';
import { busyWith } from '../run/resumed-record.ts';
import { whenFree, withNotifier } from '../run/run-scope.ts';

export interface CarriedOut {
  readonly exitCode: ExitCode;
  /** The final folder of the manifest; `unfinished` if its run can be resumed. */
  readonly folder: FinalFolder | 'unfinished';
  readonly document: object;
}

export function openInbox(
  path: string,
  store: RunStore,
  { settle: settleMs = defaults.settle, maxManifestSize: mostBytes = defaults.maxManifestSize }: Settings,
): Promise<Inbox> {
  return Inbox.open({ path, store, settleMs, mostBytes });
}

/**
 * Starts or resumes the run of a manifest, and moves the manifest to its final folder.
 *
 * @returns undefined if a program still writes the manifest, and nothing of it was sent: it waits in the inbox again
 * @throws errors not caused by the manifest, which stays for the next poll
 */
export async function carryOut(context: Context, manifest: ClaimedManifest): Promise<CarriedOut | undefined> {
  const { store } = context;
  const { name, run: runId } = manifest.record;
  let ended: EndedRun | undefined;
  let isGrowing = false;
  let refusal: RefusedManifest | undefined;
  let result: object | null = null;
  const { terminal } = context;
  const work = (withNotifier: Context): Promise<ExitCode> => {
    const capturing: Context = {
      ...withNotifier,
      // With --json, the run does not print its result: the document of the manifest contains the result.
      terminal: {
        ...terminal,
        result(document, text) {
          result = document;
          if (!terminal.json) terminal.result(document, text);
        },
      },
      onEnded(run) {
        ended = run;
        withNotifier.onEnded?.(run);
      },
      onRefused(refused) {
        refusal = refused;
        withNotifier.onRefused?.(refused);
      },
    };
    return whenFree(capturing, `run ${runId}`, async (exclusive) => {
      const code = await beginOrGoOn(exclusive, manifest).catch((error: unknown) => error);
      const isRefused = code === exitCodes.usage || isOfManifest(code);
      // If a program is still writing the manifest, do not report that its rows were refused.
      isGrowing = isRefused && ended === undefined && (await manifest.hasChanged());
      if (isGrowing) return exitCodes.success;
      if (typeof code === 'number') return code as ExitCode;
      throw code;
    });
  };
  const exitCode = await withNotifier(context, work).catch((error: unknown) => {
    if (!isOfManifest(error)) throw error;
    terminal.warn(`error: ${error.message}`);
    refusal = { refusalMessage: error.message };
    return exitCodes.usage;
  });
  const document = { name, run: ended === undefined ? null : runId, exit_code: exitCode };
  const isUnfinished = isGrowing
    ? false
    : ended === undefined
      ? exitCode !== exitCodes.usage
      : !hasEnded(ended.record);
  if (isUnfinished)
    return { exitCode, folder: 'unfinished', document: { ...document, path: manifest.path, result } };

  const ending = ended === undefined ? endingOfRefused(refusal) : await endingOf(store, ended);
  const finished = await manifest.finish(ending);
  const given = escapeInvisible(manifest.givenPath);
  if (finished === undefined) {
    terminal.say(`${given} has changed since it was taken: it waits again.`);
    return undefined;
  }
  const { folder, path } = finished;
  terminal.say(`${given} → ${escapeInvisible(path)}`);
  if (folder === ending.folder) return { exitCode, folder, document: { ...document, path, result } };
  terminal.warn(`warning: ${given} was changed during its run: see ${escapeInvisible(path)}.error.txt`);
  const worse = exitCodes.rowsFailed;
  return { exitCode: worse, folder, document: { ...document, exit_code: worse, path, result } };
}

/** Reports a manifest that was moved to `failed/` before its content was read. */
export async function carryOutRefused(
  context: Context,
  name: string,
  { error, path }: Extract<Taking, { readonly kind: 'refused' }>,
): Promise<CarriedOut> {
  const { terminal } = context;
  const exitCode = exitCodes.usage;
  await withNotifier(context, () => Promise.reject(error)).catch(() => {});
  terminal.warn(`error: ${error.message}`);
  terminal.say(`${escapeInvisible(name)} → ${escapeInvisible(path)}`);
  return {
    exitCode,
    folder: 'failed',
    document: { name, run: null, exit_code: exitCode, path, result: null },
  };
}

async function beginOrGoOn(context: Context, { record, path, origin }: ClaimedManifest): Promise<ExitCode> {
  const { store, flags } = context;
  const existing = await lookUpRun(store, record.run);
  if (existing !== undefined) return continueRun(context, existing);
  const named = { ...context, flags: { ...flags, runId: record.run } };
  const planned = await planRun(named, path, callsHere(context), origin);
  return typeof planned === 'number' ? planned : execute(named, planned.record, planned.journal);
}

async function continueRun(context: Context, record: RunRecord): Promise<ExitCode> {
  if (isInProgress(actualState(record))) throw busyWith(record);
  if (!hasEnded(record)) return resumeRun(context, record);
  const ended = await endedRun(context.store, record);
  context.onEnded?.(ended);
  return exitCodeOf(endOf(record), ended.summary.outcomes);
}

/** Whether a run has ended or a guard halted it. Otherwise it stopped for a reason that would stop other runs, too. */
export function hasEnded(record: RunRecord): boolean {
  return isOver(record) || isHaltedByGuard(record);
}

export function isOfManifest(error: unknown): error is CqbatchError {
  if (!(error instanceof CqbatchError)) return false;
  const { kind, code } = error;
  return kind === 'usage' && (code.startsWith('MANIFEST_') || code === 'RUN_ID_TAKEN');
}

export function endingOfRefused(
  { refusalMessage, problems }: RefusedManifest = { refusalMessage: 'It was not run.' },
): ManifestEnding {
  const files = problems === undefined ? {} : { '.problems.txt': problems };
  return { folder: 'failed', files, text: withoutMarks(refusalMessage) };
}

export async function endingOf(store: RunStore, ended: EndedRun): Promise<ManifestEnding> {
  const folder = finalFolderOf(ended);
  const ranOn = ended.record.options.baseUrl;
  if (folder === 'done') return { folder, ranOn };
  const files = await filesToRunAgain(store.folder(ended.record.id));
  return { folder, ranOn, files, text: endingText(ended, files) };
}

/** The paths of reports with rows to run again, by the suffix to add to the manifest's name. */
async function filesToRunAgain(folder: string): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {};
  for (const name of ['failed.csv', 'not-attempted.csv']) {
    const path = join(folder, name);
    if (await exists(path)) files[`.${name}`] = path;
  }
  return files;
}
