import { usageError } from '../../errors.ts';
import { escapeInvisible } from '../../printable.ts';
import { type CreatedRun, createRun, discard } from '../../run/create-run.ts';
import { isRunId } from '../../run/record.ts';
import type { RunStore } from '../../run/store.ts';
import type { Settings } from '../config/settings.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Plan, planDocument, planText, problemText } from '../render/plan.ts';
import { counted } from '../render/words.ts';
import { problemsPath } from '../state-folder.ts';
import type { Terminal } from '../terminal.ts';
import { proxyTo, wayTo } from './api-client.ts';
import { type CallFlags, type ManifestFlags, runOptions } from './options.ts';
import { readingManifest } from './read-manifest.ts';

interface PlanRunInput {
  readonly terminal: Terminal;
  readonly store: RunStore;
  /** The manifest. */
  readonly source: string;
  readonly flags: ManifestFlags & CallFlags;
  readonly settings: Settings;
  /** Whether this process is to call the API. */
  readonly calls: boolean;
}

/**
 * Plans a run, shows the plan and asks.
 *
 * @returns the run, or the exit code of a command that ends here: rows are invalid, or the user has declined.
 */
export async function planRun(input: PlanRunInput): Promise<CreatedRun | ExitCode> {
  const { terminal, store, source, flags, settings } = input;
  const options = runOptions(flags, settings);
  const proxy = input.calls ? proxyTo(options) : undefined;
  requireConsent(terminal, flags, source);
  const created = await readingManifest(terminal, settings, (manifestInput) =>
    createRun(store, {
      source,
      input: manifestInput,
      options,
      problemsPath: (name) => problemsPath(flags, name),
      runId: runIdOf(flags),
    }),
  );
  if (typeof created === 'number') return created;
  const planned = planOf(created, proxy);
  terminal.say(planText(planned));

  if (created.scan.invalid > 0 && !flags.skipInvalid) {
    await discard(store, created.record, created.journal);
    return refuseInvalid(terminal, planned);
  }
  if (!flags.yes && !(await terminal.confirm(question(created, proxy)))) {
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

export function question({ scan, record }: CreatedRun, proxy: string | undefined): string {
  return `Send ${counted(scan.callable, 'request')} to ${wayTo(record.options.baseUrl, proxy)}?`;
}

function planOf({ record, scan, choice, problems }: CreatedRun, proxy: string | undefined): Plan {
  const { baseUrl, rate } = record.options;
  return {
    manifest: { name: record.manifest.name, format: record.manifest.file.replace(/^manifest\.|\.gz$/g, '') },
    scan,
    choice,
    problems,
    baseUrl,
    proxy,
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
