import { rm } from 'node:fs/promises';
import { usageError } from '../../../errors.ts';
import {
  type ApprovedPlan,
  checkManifest,
  defaults,
  groupOption,
  hashFile,
  type InputOptions,
  inputKind,
  isReady,
  makeTemporaryFolder,
  planSuffix,
  type ReadingOptions,
  rowOptions,
  stageManifest,
  verdictText,
  writeApprovedPlan,
} from '../../../index.ts';
import { escapeInvisible } from '../../../text/printable.ts';
import { shellWord } from '../../../text/shell-word.ts';
import type { Flags } from '../../config/load.ts';
import { openWorkplace, type Workplace } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { type Plan, planDocument, planText } from '../../render/plan.ts';
import { clockTime, fingerprint } from '../../render/words.ts';
import { proxyTo } from '../api-client.ts';
import { baseUrlOf, runOptions, runWords } from '../options.ts';
import { approvedSource, refuseOtherRows } from './approval.ts';
import { doneBefore, planOf, readingManifest } from './planned-run.ts';

/** `cqbatch plan`: checks every row, sends nothing. */
export async function plan(given: string, flags: Flags): Promise<ExitCode> {
  const opened = await openWorkplace(flags);
  const out = planWriter(opened, given);
  const { workplace, source } = await approvedSource(opened, given);
  const { terminal, settings, approved: signedOff } = workplace;
  const { stateDir } = workplace.store;
  const baseUrl = signedOff?.options.baseUrl ?? baseUrlOf(flags, settings);
  const { allowInsecureHttp } = signedOff?.options ?? flags;
  const proxy = baseUrl === undefined ? undefined : proxyTo({ baseUrl, allowInsecureHttp });
  const { rate = defaults.rate } = signedOff?.options ?? settings;
  const reading = signedOff?.options ?? rowOptions(flags, settings);
  const { onConflict = defaults.onConflict } = reading;
  const options = {
    ...reading,
    onConflict,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(rate && { rate }),
    ...groupOption(signedOff?.options ?? settings),
  };
  const planned = await readingManifest(workplace, async (input) => {
    const { path, name, dispose } = await readable(source, stateDir, input, reading);
    try {
      const done = await doneBefore(workplace, options, input);
      const checked = await checkManifest(workplace.store, { path, name, options, context: input, done });
      if (signedOff !== undefined) refuseOtherRows(signedOff, checked.scan);
      return await planOf(workplace, checked, options, (await hashFile(path)).sha256, proxy);
    } finally {
      await dispose();
    }
  });
  if (typeof planned === 'number') return planned;
  const approved = out && isReady(planned) ? await out(planned) : undefined;
  terminal.result(
    { ...planDocument(planned), ...(approved && { plan_file: approved.file, plan_sha256: approved.sha256 }) },
    `${planText(planned)}\n\n${verdictText(planned)}`,
  );
  if (!isReady(planned)) return exitCodes.usage;
  const next = approved === undefined ? [given, ...runWords(flags)] : [approved.file];
  if (signedOff !== undefined) terminal.say(signedOffText(signedOff));
  if (approved !== undefined)
    terminal.say(`Wrote ${escapeInvisible(approved.file)} (fingerprint ${fingerprint(approved.sha256)}).`);
  terminal.say(`Nothing was sent. Next: cqbatch run ${next.map(shellWord).map(escapeInvisible).join(' ')}`);
  return exitCodes.success;
}

/** The author and the approver of a plan. */
function signedOffText({ file, sha256, made_at: at, made_by: maker, approved_by: by }: ApprovedPlan): string {
  const made = `made ${clockTime(new Date(at))}${maker === undefined ? '' : ` by ${maker.user} on ${maker.host}`}`;
  const approved = by === undefined ? '' : `, approved by ${by}`;
  return escapeInvisible(`${file} (fingerprint ${fingerprint(sha256)}), ${made}${approved}.`);
}

/**
 * Writes the plan into the file of `--out`.
 *
 * @throws a usage error for an invalid name, or a run that can't be carried out elsewhere
 */
function planWriter(workplace: Workplace, source: string) {
  const { out, approvedBy, skipDone } = workplace.flags;
  if (out === undefined) return undefined;
  if (skipDone !== undefined) {
    throw usageError(
      'INVALID_SETTING',
      "--out can't be combined with --skip-done: more rows may be done when the plan is carried out.",
    );
  }
  if (!out.endsWith(planSuffix)) {
    throw usageError('INVALID_SETTING', `--out "${out}": write a name that ends with ${planSuffix}.`);
  }
  if (source === '-' || source.endsWith(planSuffix)) {
    throw usageError('INVALID_SETTING', '--out needs a manifest file, because the run reads it again.');
  }
  const options = runOptions(workplace);
  return ({ scan, skipInvalid }: Plan): Promise<ApprovedPlan> =>
    writeApprovedPlan(out, {
      ...{ source, options, approvedBy, counts: scan },
      skip_invalid: skipInvalid,
      allow_partial: scan.partial > 0,
    });
}

/** Copies standard input and pipes: a plan may read twice. */
async function readable(source: string, stateDir: string, input: InputOptions, reading: ReadingOptions) {
  if (source !== '-' && (await inputKind(source, source, input)) === 'file') {
    return { path: source, name: source, dispose: async () => {} };
  }
  const folder = await makeTemporaryFolder(stateDir, 'plan');
  const dispose = () => rm(folder, { recursive: true, force: true });
  try {
    const { path, name } = await stageManifest(source, folder, input, reading);
    return { path, name, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
