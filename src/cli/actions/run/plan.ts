import { rm } from 'node:fs/promises';
import { actorText } from '../../../actor.ts';
import { usageError } from '../../../errors.ts';
import {
  type ApprovalPolicy,
  type ApprovedPlan,
  approvalPolicy,
  checkManifest,
  defaults,
  groupOption,
  hashFile,
  type InputOptions,
  inputKind,
  isReady,
  judgeApprovals,
  makeTemporaryFolder,
  planSuffix,
  type ReadingOptions,
  rowOptions,
  stageManifest,
  verdictText,
  writeApprovedPlan,
} from '../../../index.ts';
import { localTime } from '../../../text/local-time.ts';
import { escapeInvisible } from '../../../text/printable.ts';
import { shellWord } from '../../../text/shell-word.ts';
import type { Flags } from '../../config/load.ts';
import { openWorkplace, type Workplace } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { type Plan, planDocument, planText } from '../../render/plan.ts';
import { clockTime, fingerprint } from '../../render/words.ts';
import type { Terminal } from '../../terminal.ts';
import { proxyTo } from '../api-client.ts';
import { baseUrlOf, planWords, runOptions, runWords } from '../options.ts';
import { approvedSource, callsOf, mayBegin, refuseOtherRows, runHere } from './approval.ts';
import { doneBefore, planOf, readingManifest } from './planned-run.ts';

/** `cqbatch plan`: checks every row, sends nothing. */
export async function plan(given: string, flags: Flags): Promise<ExitCode> {
  return planIn(await openWorkplace(flags), given);
}

export async function planIn(opened: Workplace, given: string): Promise<ExitCode> {
  const out = planWriter(opened, given);
  const { workplace, source } = await approvedSource(opened, given);
  const { terminal, approved: signedOff } = workplace;
  const planned = await lookAtPlan(workplace, source);
  if (typeof planned === 'number') return planned;
  const written = out && isReady(planned) ? await out(planned) : undefined;
  printPlan(terminal, planned, written);
  if (!isReady(planned)) return exitCodes.usage;
  if (signedOff !== undefined) terminal.say(signedOffText(signedOff, approvalPolicy(workplace.settings)));
  if (written !== undefined)
    terminal.say(`Wrote ${escapeInvisible(written.file)} (fingerprint ${fingerprint(written.sha256)}).`);
  terminal.say(`Nothing was sent. Next: ${nextCommand(workplace, planned, written ?? signedOff, given)}`);
  return exitCodes.success;
}

/** Prints a plan, and the file that it was written to. */
export function printPlan(terminal: Terminal, planned: Plan, written: ApprovedPlan | undefined): void {
  terminal.result(
    { ...planDocument(planned), ...(written && { plan_file: written.file, plan_sha256: written.sha256 }) },
    `${planText(planned)}\n\n${verdictText(planned)}`,
  );
}

/** Reads and checks the rows of a manifest, or of a signed-off plan. */
export async function lookAtPlan(workplace: Workplace, source: string): Promise<Plan | ExitCode> {
  const { settings, flags, approved } = workplace;
  const { stateDir } = workplace.store;
  const baseUrl = approved?.options.baseUrl ?? baseUrlOf(flags, settings);
  const { allowInsecureHttp } = approved?.options ?? flags;
  const proxy = baseUrl === undefined ? undefined : proxyTo({ baseUrl, allowInsecureHttp });
  const { rate = defaults.rate } = approved?.options ?? settings;
  const reading = approved?.options ?? rowOptions(flags, settings);
  const { onConflict = defaults.onConflict } = reading;
  const options = {
    ...reading,
    onConflict,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(rate && { rate }),
    ...groupOption(approved?.options ?? settings),
  };
  return readingManifest(workplace, async (input) => {
    const { path, name, dispose } = await readable(source, stateDir, input, reading);
    try {
      const done = await doneBefore(workplace, options, input);
      const checked = await checkManifest(workplace.store, { path, name, options, context: input, done });
      if (approved !== undefined) refuseOtherRows(approved, checked.scan);
      return await planOf(workplace, checked, options, (await hashFile(path)).sha256, proxy);
    } finally {
      await dispose();
    }
  });
}

/** What to type after a look at a plan. */
function nextCommand(
  { flags, settings }: Workplace,
  { scan }: Plan,
  plan: ApprovedPlan | undefined,
  given: string,
): string {
  const policy = approvalPolicy(settings);
  const isApproved = mayBegin(policy, plan, callsOf(scan));
  const ofManifest = isApproved
    ? ['run', given, ...runWords(flags)]
    : ['plan', given, ...planWords(flags), '--out', `NAME${planSuffix}`];
  const words = plan === undefined ? ofManifest : [isApproved ? 'run' : 'approve', plan.file];
  return `cqbatch ${words.map(shellWord).map(escapeInvisible).join(' ')}`;
}

/** The author and the approvers of a plan. */
export function signedOffText(plan: ApprovedPlan, { approvers }: ApprovalPolicy): string {
  const { file, sha256, made_at: at, made_by: maker, approved_by: by } = plan;
  const made = `made ${clockTime(new Date(at))}${maker === undefined ? '' : ` by ${actorText(maker)}`}`;
  const approved = by === undefined ? '' : `, approved by ${by}`;
  const signed = judgeApprovals(plan, approvers, runHere()).map((each) =>
    each.counts
      ? `Signed by ${each.name} (${each.key}), valid until ${localTime(each.until)}.`
      : `Not counted: ${each.why}.`,
  );
  const lines = [`${file} (fingerprint ${fingerprint(sha256)}), ${made}${approved}.`, ...signed];
  return lines.map(escapeInvisible).join('\n');
}

/**
 * Writes the plan into the file of `--out`.
 *
 * @throws a usage error for an invalid name, or a run that can't be carried out elsewhere
 */
function planWriter(workplace: Workplace, source: string) {
  const { out, skipDone } = workplace.flags;
  if (out === undefined) return undefined;
  if (skipDone !== undefined) {
    throw usageError(
      'INVALID_SETTING',
      "--out can't be combined with --skip-done: more rows may be done when the plan is carried out.",
    );
  }
  const file = planFile(out);
  if (source === '-' || source.endsWith(planSuffix)) {
    throw usageError('INVALID_SETTING', '--out needs a manifest file, because the run reads it again.');
  }
  const options = runOptions(workplace);
  return ({ scan, skipInvalid }: Plan): Promise<ApprovedPlan> =>
    writeApprovedPlan(file, {
      ...{ source, options, counts: scan },
      skip_invalid: skipInvalid,
      allow_partial: scan.partial > 0,
    });
}

/** @throws a usage error for a name that no plan has */
export function planFile(out: string): string {
  if (out.endsWith(planSuffix)) return out;
  throw usageError('INVALID_SETTING', `--out "${out}": write a name that ends with ${planSuffix}.`);
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
