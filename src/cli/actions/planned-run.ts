import { usageError } from '../../errors.ts';
import { escapeInvisible } from '../../printable.ts';
import { type CreatedRun, createRun } from '../../run/create-run.ts';
import { isRunId } from '../../run/run-id.ts';
import type { RunStore } from '../../run/store.ts';
import type { Settings } from '../config/settings.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Plan, planDocument, planText, problemText } from '../render/plan.ts';
import { counted } from '../render/words.ts';
import type { Terminal } from '../terminal.ts';
import { discard } from './discard.ts';
import { type CallFlags, type ManifestFlags, runOptions } from './options.ts';
import { problemsPath } from './problems-path.ts';
import { readingManifest } from './read-manifest.ts';

/**
 * Plans a run, shows the plan and asks.
 *
 * @returns the run, or the exit code of a command that ends here: rows are invalid, or the user has declined.
 */
export async function planRun(
  terminal: Terminal,
  store: RunStore,
  source: string,
  flags: ManifestFlags & CallFlags,
  settings: Settings,
): Promise<CreatedRun | ExitCode> {
  const options = runOptions(flags, settings);
  requireConsent(terminal, flags, source);
  const created = await readingManifest(terminal, settings, (input) =>
    createRun(store, {
      source,
      input,
      options,
      problemsPath: (name) => problemsPath(flags, name),
      runId: runIdOf(flags),
    }),
  );
  if (typeof created === 'number') return created;
  const planned = planOf(created);
  terminal.say(planText(planned));

  if (created.scan.invalid > 0 && !flags.skipInvalid) {
    await discard(store, created.record, created.journal);
    return refuseInvalid(terminal, planned);
  }
  if (!flags.yes && !(await terminal.confirm(question(created)))) {
    await discard(store, created.record, created.journal);
    terminal.result({ state: 'declined' }, 'Nothing was sent.');
    return exitCodes.usage;
  }
  return created;
}

/** @throws a usage error when the id that the user chose can't be one. */
export function runIdOf({ runId }: CallFlags): string | undefined {
  if (runId === undefined || isRunId(runId)) return runId;
  throw usageError(
    'INVALID_SETTING',
    `--run-id "${runId}": write up to 63 small letters, digits, "-" and "_", a letter or digit first.`,
  );
}

/**
 * Finds out before any work whether the user could be asked.
 *
 * @throws a usage error when not, and `--yes` is missing.
 */
export function requireConsent(terminal: Terminal, { yes }: CallFlags, source?: string): void {
  if (yes || (terminal.canAsk && source !== '-')) return;
  const why = source === '-' ? 'the manifest comes from standard input' : 'there is no terminal to ask on';
  throw usageError(
    'CONSENT_MISSING',
    `Nobody can be asked, because ${why}: look at "cqbatch plan" first, then pass --yes.`,
  );
}

export function question({ scan, record }: CreatedRun): string {
  return `Send ${counted(scan.callable, 'request')} to ${record.options.baseUrl}?`;
}

function planOf({ record, scan, choice, problems }: CreatedRun): Plan {
  const { baseUrl, rate } = record.options;
  return {
    manifest: { name: record.manifest.name, format: record.manifest.file.replace(/^manifest\.|\.gz$/g, '') },
    scan,
    choice,
    problems,
    baseUrl,
    ...(rate?.perSecond !== undefined && { ratePerSecond: rate.perSecond }),
  };
}

function refuseInvalid(terminal: Terminal, planned: Plan): ExitCode {
  const message =
    `${counted(planned.scan.invalid, 'row')} of ${escapeInvisible(planned.manifest.name)} are invalid, so nothing was sent. Mend them, or pass ` +
    '--skip-invalid to leave them out.';
  if (terminal.json)
    terminal.result({ error: { code: 'INVALID_ROWS', message }, plan: planDocument(planned) }, '');
  if (terminal.quiet) terminal.warn(problemText(planned));
  terminal.warn(`error: ${message}`);
  return exitCodes.usage;
}
