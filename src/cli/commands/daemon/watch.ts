import { setTimeout as sleep } from 'node:timers/promises';
import { withScope } from '../../../base/async/scope.ts';
import { BusyError } from '../../../base/errors/errors.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import type { HealthState } from '../../../daemon/health.ts';
import type { Inbox, Taking } from '../../../daemon/inbox/inbox.ts';
import { findInbox } from '../../../daemon/inbox/names.ts';
import { exchangeWarning } from '../../../daemon/inbox/other-users.ts';
import { openProbes } from '../../../daemon/probes.ts';
import { isOfFilesOfRun } from '../../../engine/run/record/run-journal.ts';
import { defaults } from '../../../settings/settings.ts';
import type { Flags } from '../../config.ts';
import { type Context, openRunContext } from '../../context.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { interruptible, sayStopping } from '../../interrupt.ts';
import { inboxText } from '../../render/ended-run.ts';
import { proxyTo, tokenSource, wayTo } from '../api-client.ts';
import { callsHere, planWords, runOptions } from '../options.ts';
import { requireConsent } from '../run/planned-run.ts';
import { withMetricsFile, withNotifier } from '../run/run-scope.ts';
import { type CarriedOut, carryOut, carryOutRefused, openInbox } from './inbox-manifest.ts';

const inboxPollMs = 1_000;
/** How long `watch` waits for the embedded datastore, which a long run may be using. */
const datastoreWaitMs = 24 * 60 * 60 * 1_000;

/** The exit codes of runs, from the worst to the best. */
const severity = [
  exitCodes.interrupted,
  exitCodes.fatal,
  exitCodes.busy,
  exitCodes.spent,
  exitCodes.halted,
  exitCodes.usage,
  exitCodes.rowsFailed,
];

export async function watch(path: string, flags: Flags): Promise<ExitCode> {
  const context = await openRunContext(flags);
  return flags.once
    ? withMetricsFile(context, (withMetrics) => runOnce(withMetrics, path))
    : keepRunning(context, path);
}

function keepRunning(context: Context, path: string): Promise<ExitCode> {
  const { settings, store, terminal } = context;
  return withScope(async (defer) => {
    const stop = interruptible(sayStopping(terminal));
    defer(stop.release);
    const state = (): HealthState =>
      stop.signal.aborted
        ? { healthy: true, ready: false, reason: 'stopping' }
        : { healthy: true, ready: true };
    const onError = ({ message }: Error): void =>
      terminal.warn(`warning: --metrics-file was not written: ${message}`);
    const { metrics, port } = await openProbes(
      { settings, operations: store.operations, store, state, onError },
      defer,
    );
    if (port !== undefined) terminal.say(`Probes and metrics are on port ${port}.`);
    const patient = { ...context, metrics, settings: { wait: datastoreWaitMs, ...settings } };
    const work = await openWork(patient, path, stop.signal);
    return work === undefined ? declinedByUser(context) : work.untilStopped();
  });
}

function runOnce(context: Context, path: string): Promise<ExitCode> {
  const { notifyUrl: _notifyUrl, ...withPings } = context.settings;
  const { pingUrl: _pingUrl, ...withNotifications } = context.settings;
  // The whole command sends a ping, and each manifest causes a notification.
  return withNotifier({ ...context, settings: withPings }, async ({ onInboxDone }) => {
    const stop = interruptible(sayStopping(context.terminal));
    try {
      const work = await openWork({ ...context, settings: withNotifications }, path, stop.signal);
      return work === undefined ? declinedByUser(context) : await work.untilEmpty(onInboxDone);
    } finally {
      stop.release();
    }
  });
}

function declinedByUser({ terminal }: Context): ExitCode {
  terminal.result({ state: 'declined' }, 'Nothing was sent.');
  return exitCodes.usage;
}

/**
 * Opens the work on an inbox: checks whether its manifests can be run, and asks the user. Undefined when the user declines.
 *
 * @param stop aborts when no more manifests may start
 */
async function openWork(context: Context, path: string, stop: AbortSignal) {
  const { terminal, flags, settings, store } = context;
  // Look for the inbox first: if folder and token are both missing, the user learns of the mistyped folder first.
  await findInbox(path);
  const options = runOptions(context);
  const isCaller = callsHere(context);
  if (isCaller) await tokenSource(context, options).current();
  requireConsent(context, ['plan', 'FILE', ...planWords(context.flags)]);
  const inbox = await openInbox(path, store, settings);
  const exchange = await exchangeWarning(inbox.folder);
  if (exchange !== undefined) terminal.warn(exchange);
  const way = wayTo(options, isCaller ? proxyTo(options) : undefined);
  const question = `Run each manifest in ${escapeInvisible(path)} on ${way} without asking again?`;
  if (!flags.yes && !(await terminal.confirm(question))) return undefined;
  return inboxWork({ ...context, flags: { ...flags, yes: true } }, inbox, stop);
}

function inboxWork(context: Context, inbox: Inbox, stop: AbortSignal) {
  const { terminal, flags, settings } = context;
  const carriedOut: CarriedOut[] = [];
  const saidTexts = new Set<string>();

  function sayOnce(text: string, say = terminal.warn): void {
    if (!saidTexts.has(text)) say(text);
    saidTexts.add(text);
  }

  function sayWaiting(name: string, taking: Taking): void {
    const file = escapeInvisible(name);
    if (taking.kind === 'copy') {
      const { name: first, run } = taking.of;
      terminal.say(
        `${file} is a copy of ${escapeInvisible(first)}, run ${run}: moved to ${escapeInvisible(taking.path)}`,
      );
    }
    if (taking.kind === 'elsewhere') sayOnce(`${file} waits: its content belongs to ${taking.who}`);
    if (taking.kind === 'unusable') sayOnce(`${file} waits: ${escapeInvisible(taking.why)}`);
  }

  /** The manifest, if any, whose run stopped for a reason that would stop other runs, too. */
  const unfinished = (): CarriedOut | undefined => carriedOut.find(({ folder }) => folder === 'unfinished');
  const isOver = (): boolean => stop.aborted || unfinished() !== undefined;

  async function look() {
    const growing: string[] = [];
    const unusable: string[] = [];
    if (isOver()) return { growing, unusable };
    for (const { name, why } of await inbox.ignoredFiles())
      sayOnce(`${escapeInvisible(name)} is ignored: ${why}`, terminal.say);
    for await (const { name, taking } of inbox.take()) {
      if (taking.kind === 'growing') growing.push(name);
      if (taking.kind === 'unusable') unusable.push(name);
      const result =
        taking.kind === 'taken'
          ? await carryOut(context, taking.manifest).catch((error: unknown) => {
              if (!isOfFilesOfRun(error)) throw error;
              return { kind: 'unusable', why: error.message } as const;
            })
          : taking.kind === 'refused'
            ? await carryOutRefused(context, name, taking)
            : undefined;
      if (result === undefined) {
        if (taking.kind === 'taken') growing.push(name);
        else sayWaiting(name, taking);
        continue;
      }
      // A manifest whose run has unusable files does not hold up the other manifests.
      if ('why' in result) {
        unusable.push(name);
        sayWaiting(name, result);
        continue;
      }
      carriedOut.push(result);
      if (terminal.json && !flags.once) terminal.result(result.document, '');
      if (isOver()) break;
    }
    return { growing, unusable };
  }

  async function untilNoneWaits() {
    for (;;) {
      const countBefore = carriedOut.length;
      const remaining = await look();
      if (carriedOut.length === countBefore || isOver()) return remaining;
    }
  }

  return {
    async untilStopped(): Promise<ExitCode> {
      terminal.say(`Watching ${escapeInvisible(inbox.folder)}. Ctrl-C stops.`);
      while (!stop.aborted) {
        await look().catch((error: unknown) => {
          if (!(error instanceof BusyError)) throw error;
          sayOnce(error.message);
        });
        // If a run has stopped before its end, this process ends: a supervisor restarts it, and it continues the run.
        const stuck = unfinished();
        if (stuck !== undefined) return stuck.exitCode;
        carriedOut.length = 0;
        await pause(inboxPollMs, stop);
      }
      return exitCodes.success;
    },

    async untilEmpty(onDone?: (text: string) => void): Promise<ExitCode> {
      let remaining = await untilNoneWaits();
      // Wait once for manifests that programs were still writing: by now they may be complete.
      if (remaining.growing.length > 0 && !isOver()) {
        await pause(settings.settle ?? defaults.settle, stop);
        remaining = await untilNoneWaits();
      }
      const { growing, unusable } = remaining;
      const manifests = carriedOut.map(({ document }) => document);
      const folders = carriedOut.map(({ folder }) => folder);
      const text = inboxText(folders, growing.length, unusable.length);
      terminal.result({ manifests, growing, unusable }, text);
      onDone?.(text);
      if (stop.aborted) return exitCodes.interrupted;
      const codes = new Set(carriedOut.map(({ exitCode }) => exitCode));
      if (unusable.length > 0) codes.add(exitCodes.fatal);
      return severity.find((code) => codes.has(code)) ?? exitCodes.success;
    },
  };
}

/** Waits. Unlike most timers of the program, this one keeps the process alive. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
