import { basename, join } from 'node:path';
import { withTemporaryFolder } from '../../../base/disk/owned-folder.ts';
import { usageError } from '../../../base/errors/errors.ts';
import { shellWord } from '../../../base/text/command-words.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import { planSuffix } from '../../../engine/run/plan/file/plan-file.ts';
import { type ReadPlan, readPlanFile } from '../../../engine/run/plan/file/read-plan-file.ts';
import { contentRunId } from '../../../engine/run/record/run-id.ts';
import { rowsFile } from '../../../engine/run/record/run-rows.ts';
import {
  changedOptions,
  givenRowOptions,
  groupOption,
  savingOptions,
} from '../../../settings/run-options.ts';
import { defaults, optionInWords } from '../../../settings/settings.ts';
import type { Flags } from '../../config.ts';
import type { CommandContext } from '../../context.ts';
import { valueText } from '../../render/options.ts';
import { baseUrlOf, differingOptions, digestIn } from '../options.ts';

/**
 * Works on a manifest, or on a plan, which replaces rows, options and consent of the command line.
 *
 * @param source path of the manifest or plan; `-` for standard input
 * @throws a usage error when the plan can't be used, or an option contradicts it
 */
export async function withNamedPlan<SomeContext extends CommandContext, Result>(
  context: SomeContext,
  source: string,
  work: (context: SomeContext) => Promise<Result>,
): Promise<Result> {
  if (!source.endsWith(planSuffix)) {
    refuseDigestOfManifest(source, context.flags);
    return work(context);
  }
  return withTemporaryFolder(context.store.stateDir, 'plan', async (folder) => {
    const { store, flags, settings } = context;
    const { maxManifestSize = defaults.maxManifestSize } = settings;
    const plan = await readPlanFile(store, source, join(folder, rowsFile), { maxBytes: maxManifestSize });
    refuseOtherFile(plan, flags);
    refuseOtherOptions(context, plan);
    // The id is made of the plan, not at random: with --or-resume, a second `run` of the plan continues the first one.
    const runId = flags.runId ?? contentRunId(basename(plan.file), plan.sha256);
    return work(withPlan(context, plan, runId));
  });
}

function refuseDigestOfManifest(source: string, { sha256 }: Flags): void {
  if (sha256 === undefined) return;
  throw usageError(
    'INVALID_SETTING',
    `--sha256 needs a plan, whose name ends with ${planSuffix}, and ${escapeInvisible(source)} is a manifest: make a plan with ` +
      `"cqbatch plan ${shellWord(escapeInvisible(source))} --out NAME${planSuffix}".`,
  );
}

/** Compares a plan file with `--sha256`. @throws a usage error `PLAN_DIFFERS` when the file has another SHA-256 */
function refuseOtherFile({ file, sha256: actual }: ReadPlan, { sha256 }: Flags): void {
  if (sha256 === undefined || digestIn('--sha256', sha256) === actual) return;
  throw usageError(
    'PLAN_DIFFERS',
    `${escapeInvisible(file)} has the SHA-256 ${actual}, not that of --sha256, so it is not the plan that you mean and nothing is sent: look at it with ` +
      `"cqbatch plan ${shellWord(escapeInvisible(file))}".`,
  );
}

function withPlan<SomeContext extends CommandContext>(
  context: SomeContext,
  planFile: ReadPlan,
  runId: string,
): SomeContext {
  const { flags, settings } = context;
  const { consent } = planFile;
  return {
    ...context,
    planFile,
    flags: { ...flags, yes: true, skipInvalid: consent.skip_invalid, runId },
    settings: { ...settings, allowPartial: settings.allowPartial || consent.allow_partial },
  };
}

/** Refuses options that differ from those of the plan. Omitted options keep the plan's values. */
function refuseOtherOptions(
  { flags, settings }: CommandContext,
  { file, options, head, consent }: ReadPlan,
): void {
  const { allowInsecureHttp = options.allowInsecureHttp ?? false, skipDone, skipInvalid } = flags;
  const baseUrl = baseUrlOf({ allowInsecureHttp }, settings);
  const read = { clearToken: head.clear_token, ...head.reading, skipInvalid: consent.skip_invalid };
  const wanted = {
    ...read,
    ...changedOptions(options, settings),
    ...savingOptions(flags, options),
    ...givenRowOptions(flags, settings),
    ...(baseUrl !== undefined && { baseUrl }),
    ...groupOption(settings),
    ...(flags.allowInsecureHttp && { allowInsecureHttp: true }),
    ...(skipDone && { skipDone }),
    ...(skipInvalid !== undefined && { skipInvalid }),
  };
  const [other] = differingOptions({ ...read, ...options }, wanted);
  if (other === undefined) return;
  const { name, valueBefore, valueNow } = other;
  const option = optionInWords(name);
  throw usageError(
    'PLAN_DIFFERS',
    `${option} was ${valueText(name, valueBefore)} when ${escapeInvisible(file)} was made, and is ${valueText(name, valueNow)} now. Remove ${option} (flag, ` +
      'environment, config.json), or make a new plan.',
  );
}
