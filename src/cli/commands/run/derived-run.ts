import { join } from 'node:path';
import { withTemporaryFolder } from '../../../base/disk/owned-folder.ts';
import { beginRun } from '../../../engine/run/plan/create-run.ts';
import { writePlanFile } from '../../../engine/run/plan/file/plan-file.ts';
import type { PlannedRows } from '../../../engine/run/plan/planned-rows.ts';
import { isReady, type ReadyRows, readyRows } from '../../../engine/run/plan/readiness.ts';
import type { UndoInput } from '../../../engine/run/plan/undo-run.ts';
import type { RunOptions, RunRecord } from '../../../engine/run/record/record.ts';
import { openRunRows, rowsFile } from '../../../engine/run/record/run-rows.ts';
import { delimiterOf } from '../../../engine/run/report/report-run.ts';
import { callOptions, canaryOptions, groupOption, savingOptions } from '../../../settings/run-options.ts';
import type { Flags } from '../../config.ts';
import type { Context } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { sentText } from '../../render/changes.ts';
import { proxyTo, tokenSource } from '../api-client.ts';
import { entryLists } from '../listing.ts';
import { attributionOf, baseUrlOf, callsHere, runWords } from '../options.ts';
import { execute } from './execute.ts';
import {
  commandLine,
  pageIfWanted,
  planFileName,
  printPlan,
  requirePageFile,
  runOfPlan,
  wantsPage,
} from './plan.ts';
import { askingUser, planOf, readingManifest, requireConsent } from './planned-run.ts';
import { otherApi } from './resumed-record.ts';

type Derivation = 'retry' | 'undo';

/**
 * Runs rows of another run as a new run, with its API and options unless the user overrides them.
 *
 * @param write writes the rows and describes them, or returns an exit code when there is nothing to run
 */
export async function runDerived(
  context: Context,
  of: RunRecord,
  as: Derivation,
  onConflict: RunOptions['onConflict'],
  write: (input: UndoInput) => Promise<PlannedRows | ExitCode>,
): Promise<ExitCode> {
  const { store, settings, flags } = context;
  await requirePageFile(flags);
  const isCaller = callsHere(context);
  const permits = {
    skipInvalid: flags.skipInvalid,
    allowEmpty: settings.allowEmpty,
    // The other run was allowed to leave fields out. If its rows had all fields, an undo may still lack old values for some.
    allowPartial: settings.allowPartial || of.plan.partial > 0,
  };
  return withTemporaryFolder(store.stateDir, as, async (folder) => {
    const { baseUrl, allowInsecureHttp } = of.options;
    const wanted = baseUrlOf({ allowInsecureHttp: allowInsecureHttp ?? false }, settings) ?? baseUrl;
    if (wanted !== baseUrl) throw otherApi(of.id, baseUrl, wanted, flags);
    const options = {
      baseUrl,
      ...(allowInsecureHttp && { allowInsecureHttp }),
      ...groupOption(of.options),
      onConflict,
      ...callOptions(settings, { ...of.options, delimiter: delimiterOf(of) }),
      ...savingOptions(flags, of.options),
      ...canaryOptions(settings, onConflict),
    };
    const path = join(folder, rowsFile);
    const wasCompared = (await openRunRows(store, of)).head.compared !== undefined;
    // The rows of a compared run have whole entries as they were then: without a comparison, a retry would overwrite later changes.
    const compare = (as === 'retry' && wasCompared) || (settings.compare ?? wasCompared);
    const reading = { ...context, settings: { ...settings, compare } };
    const planned = await readingManifest(reading, async ({ signal }, endReading, defer) => {
      const lists = compare ? await entryLists(context, options, signal, defer) : undefined;
      const written = await write({ options, path, lists, overwrite: flags.overwrite });
      endReading();
      return written;
    });
    if (typeof planned === 'number') return planned;
    const proxy = isCaller ? proxyTo(of.options) : undefined;
    if (isPreview(flags))
      return preview(
        context,
        [as, of.id],
        path,
        await readyRows(store, planned, options, permits),
        options,
        proxy,
      );
    if (isCaller) await tokenSource(context, options).current();
    const begun = await beginRun(
      store,
      {
        rows: { kind: 'rows', path, planned },
        options,
        permits,
        runId: flags.runId,
        attribution: attributionOf(context),
      },
      askingUser(context, proxy, (run) => planOf(context, run, options, proxy, undefined)),
    );
    return begun === undefined ? exitCodes.usage : execute(context, begun.record, begun.journal);
  });
}

export function isPreview(flags: Flags): boolean {
  return flags.plan === true || flags.out !== undefined || wantsPage(flags);
}

/** @throws a usage error when rows would be called without a confirmation that can't be asked for */
export function requireConsentUnlessPreview(context: Context, as: Derivation, id: string | undefined): void {
  const { flags } = context;
  if (isPreview(flags)) return;
  requireConsent(context, [as, ...(id === undefined ? [] : [id]), '--plan', ...runWords(flags)]);
}

async function preview(
  context: Context,
  command: readonly string[],
  path: string,
  rows: PlannedRows & ReadyRows,
  options: RunOptions,
  proxy: string | undefined,
): Promise<ExitCode> {
  const { terminal, flags } = context;
  const { out } = flags;
  const planned = await planOf(context, rows, options, proxy, undefined);
  const ready = isReady(rows);
  const written =
    out === undefined || !ready ? undefined : await writePlanFile(planFileName(out), path, rows);
  const end = {
    ...(written === undefined
      ? { of: rowsFile, sha256: rows.digest.sha256 }
      : { of: written.file, sha256: written.sha256 }),
    command: written === undefined ? commandLine([...command, ...runWords(flags)]) : runOfPlan(written),
  };
  const page = await pageIfWanted(context, { planned, head: rows.head, rows: path, end });
  printPlan(context, planned, written, page);
  const next = written === undefined ? '' : ` Next: ${runOfPlan(written)}`;
  terminal.say(`${sentText(planned)}${next}`);
  return ready ? exitCodes.success : exitCodes.usage;
}
