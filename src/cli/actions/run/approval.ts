import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { usageError } from '../../../errors.ts';
import {
  type ApprovedPlan,
  changedOptions,
  contentRunId,
  givenRowOptions,
  groupOption,
  optionInWords,
  planSuffix,
  readApprovedPlan,
  type ScanSummary,
} from '../../../index.ts';
import { escapeInvisible } from '../../../text/printable.ts';
import type { Workplace } from '../../context.ts';
import { baseUrlOf } from '../options.ts';

/**
 * The manifest and options of a run. A signed-off plan supplies its manifest, options and consent instead of the command line.
 *
 * @param source path of the manifest or plan; `-` for standard input
 * @throws a usage error when the plan or its manifest was changed, or an option contradicts the plan
 */
export async function approvedSource<Place extends Workplace>(
  workplace: Place,
  source: string,
): Promise<{ readonly workplace: Place; readonly source: string }> {
  if (!source.endsWith(planSuffix)) return { workplace, source };
  const approved = await readApprovedPlan(source);
  refuseOtherOptions(workplace, approved);
  const { flags, settings } = workplace;
  return {
    workplace: {
      ...workplace,
      approved,
      flags: {
        ...flags,
        yes: true,
        skipInvalid: approved.skip_invalid,
        // One id, so that a plan is carried out only once.
        runId: flags.runId ?? contentRunId(basename(approved.file), approved.sha256),
      },
      settings: { ...settings, allowPartial: settings.allowPartial || approved.allow_partial },
    },
    source: approved.source,
  };
}

/** Omitted options keep the plan's values. */
function refuseOtherOptions(
  { flags, settings }: Workplace,
  { file, options, skip_invalid }: ApprovedPlan,
): void {
  const { allowInsecureHttp = options.allowInsecureHttp ?? false } = flags;
  const baseUrl = baseUrlOf({ allowInsecureHttp }, settings);
  const wanted = {
    ...changedOptions(options, settings),
    ...givenRowOptions(flags, settings),
    ...(baseUrl !== undefined && { baseUrl }),
    ...groupOption(settings),
    ...(flags.allowInsecureHttp && { allowInsecureHttp: true }),
    ...(flags.skipDone && { skipDone: flags.skipDone }),
    skipInvalid: flags.skipInvalid ?? skip_invalid,
  };
  const planned = { ...options, skipInvalid: skip_invalid };
  for (const name of new Set([...Object.keys(wanted), ...Object.keys(planned)])) {
    const now = wanted[name as keyof typeof wanted];
    const then = planned[name as keyof typeof planned];
    if (isDeepStrictEqual(now, then)) continue;
    throw usageError(
      'PLAN_DIFFERS',
      `${escapeInvisible(file)} was signed off with ${optionInWords(name)} ${textOf(then)}, but now it is ${textOf(now)}: leave that ` +
        'out, also in the environment and the configuration file, or make the plan again and have it reviewed.',
    );
  }
}

/** @throws a usage error when the rows differ from those signed off, though the manifest does not */
export function refuseOtherRows({ file, counts, made_by }: ApprovedPlan, scan: ScanSummary): void {
  for (const [name, planned] of Object.entries(counts)) {
    const now = scan[name as keyof typeof counts];
    if (now === planned) continue;
    throw usageError(
      'PLAN_DIFFERS',
      `${escapeInvisible(file)} was signed off for ${planned} rows ${name === 'rows' ? 'in all' : `that are ${name}`}, but this version of ` +
        `cqbatch finds ${now}: use the version that made it${made_by?.version === undefined ? '' : ` (${made_by.version})`}.`,
    );
  }
}

function textOf(value: unknown): string {
  if (value === undefined) return 'not given';
  if (typeof value === 'object' && value !== null && 'text' in value) return String(value.text);
  return escapeInvisible(typeof value === 'string' ? value : JSON.stringify(value));
}
