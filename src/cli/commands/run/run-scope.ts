import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { steadyNow } from '../../../base/async/clock.ts';
import { type Defer, withScope } from '../../../base/async/scope.ts';
import { BusyError, type CqbatchError, usageError } from '../../../base/errors/errors.ts';
import { readVersion } from '../../../base/package.ts';
import { duration } from '../../../base/text/format.ts';
import { openMetricsFile } from '../../../daemon/metrics/metrics-file.ts';
import { thisActor } from '../../../domain/actor.ts';
import type { Webhook } from '../../../engine/api/webhook.ts';
import type { Datastore } from '../../../engine/datastore/datastore.ts';
import { endOf } from '../../../engine/run/record/record.ts';
import { environment, type Flags, readSecret } from '../../config.ts';
import { type CommandInput, type Context, openRunContext } from '../../context.ts';
import { type ExitCode, exitCodeOf, exitCodeOfError, exitCodes, Interrupted } from '../../exit-codes.ts';
import { type Interrupt, interruptible } from '../../interrupt.ts';
import { bodyFor, type EndedCommand, type EndedRun, notificationOf } from '../../render/ended-run.ts';
import { withoutMarks } from '../../render/style.ts';
import type { Terminal } from '../../terminal.ts';

const busyPollMs = 1_000;

/** Codes of errors that end with the other process, unlike that of a run id in use. */
const transientCodes = ['DATASTORE_LOCKED', 'RUN_LOCKED', 'RUN_RUNNING'];

/** Opens what a command with a run needs. Its work begins while the datastore still opens. */
export function inRunScope(flags: Flags, work: (context: Context) => Promise<ExitCode>): Promise<ExitCode> {
  return withScope(async (defer) => {
    const context = await openRunContext(flags);
    context.datastore.prepare(defer);
    return withMetricsFile(context, (withMetrics) => withNotifier(withMetrics, work));
  });
}

export function runWhenFree(
  flags: Flags,
  purpose: string,
  work: (context: Context) => Promise<ExitCode>,
): Promise<ExitCode> {
  return inRunScope(flags, (context) => whenFree(context, purpose, work));
}

/**
 * Does exclusive work; with `--wait`, waits for other processes. Holds the embedded datastore from the start, so that no other process
 * changes the state of runs.
 *
 * @param work begins again after each wait
 * @throws a busy error when the wait is over, `Interrupted` when the user stops waiting
 */
export function whenFree<Result>(
  context: Context,
  purpose: string,
  work: (context: Context) => Promise<Result>,
): Promise<Result> {
  const { terminal, settings, datastore } = context;
  if (settings.wait === undefined) return work(context);
  const whenFreed = repeatWhileBusy(terminal, settings.wait);
  if (datastore.queue !== undefined) return whenFreed(() => work(context));
  return withScope(async (defer) => {
    const opened = await whenFreed(async (stopped) => {
      const embedded = await datastore.open(purpose, defer);
      refuseStopped(stopped);
      return embedded;
    });
    const open = async (): Promise<Datastore> => opened;
    return whenFreed(() => work({ ...context, datastore: { queue: undefined, prepare() {}, open } }));
  });
}

/** Returns what repeats work while another process is busy. All of this work waits for at most `ms` together. */
function repeatWhileBusy(terminal: Terminal, ms: number) {
  const howLong = duration(ms / 1_000);
  let until: number | undefined;
  const pauseAfter = async ({ code, what }: BusyError, stopped: AbortSignal): Promise<void> => {
    if (until === undefined) {
      until = steadyNow() + ms;
      terminal.say(`${what}: waiting for up to ${howLong}. Press Ctrl-C to cancel.`);
    }
    const leftMs = until - steadyNow();
    if (leftMs <= 0) throw new BusyError(code, `${what}, and still is after ${howLong}`, 'Nothing was sent.');
    await pause(Math.min(busyPollMs, leftMs), undefined, { signal: stopped }).catch(() => {});
    refuseStopped(stopped);
  };
  /** Does work until it succeeds. @param work receives a signal that aborts when the user stops waiting */
  return async <Result>(work: (stopped?: AbortSignal) => Promise<Result>): Promise<Result> => {
    let interrupt: Interrupt | undefined;
    try {
      for (;;) {
        try {
          return await work(interrupt?.signal);
        } catch (error) {
          if (!(error instanceof BusyError) || !transientCodes.includes(error.code)) throw error;
          interrupt ??= interruptible(() => {});
          await pauseAfter(error, interrupt.signal);
        }
      }
    } finally {
      interrupt?.release();
    }
  };
}

function refuseStopped(stopped: AbortSignal | undefined): void {
  if (stopped?.aborted) throw new Interrupted('wait');
}

/**
 * Does work, and writes its metrics. A failure to write the file does not change the exit code.
 *
 * @param work counts in `context.metrics`
 */
export function withMetricsFile(
  context: Context,
  work: (context: Context) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { settings, store, terminal } = context;
  const { metricsFile } = settings;
  if (metricsFile === undefined) return work(context);
  return withScope(async (defer) => {
    const { operations } = store;
    const options = { version: readVersion(), operations, runs: true, isOneCommand: true };
    const file = await openMetricsFile(metricsFile, options, ({ message }) =>
      terminal.warn(`warning: --metrics-file was not written: ${message}`),
    );
    const { metrics } = file;
    defer(() => file.close());
    const code = await work({ ...context, metrics }).catch((error) => {
      metrics.commandEnding(exitCodeOfError(error));
      throw error;
    });
    metrics.commandEnding(code);
    return code;
  });
}

/**
 * Does work, and notifies of its end. A failure to notify does not change the exit code.
 *
 * @param work passes its ended run to `context.onEnded`
 */
export function withNotifier(
  context: Context,
  work: (context: Context) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withScope(async (defer) => {
    const notifier = await openNotifier(context, defer);
    if (notifier === undefined) return work(context);
    const starting = notifier.commandStarted();
    let runId: string | undefined;
    let run: EndedRun | undefined;
    let failure: unknown;
    let refused: CqbatchError | undefined;
    let inboxText: string | undefined;
    const withNotifier: Context = {
      ...context,
      onStarted(record, stop) {
        runId = record.id;
        context.onStarted?.(record, stop);
      },
      onEnded(ended) {
        run = ended;
      },
      onInboxDone(text) {
        inboxText = text;
      },
      onRefused(refusal) {
        refused = usageError('MANIFEST_REFUSED', withoutMarks(refusal.refusalMessage));
        context.onRefused?.(refusal);
      },
    };
    const exitCode = await work(withNotifier).catch((error: unknown) => {
      failure = error;
      return exitCodeOfError(error);
    });
    await starting;
    const error = (failure as Error | undefined) ?? refused;
    await notifier.commandEnded({ run, runId, inboxText, exitCode, error });
    if (failure !== undefined) throw failure;
    return exitCode;
  });
}

/** How long a ping or notification may hold up a command at its start and end: ten seconds in all. */
const notifierWaitMs = { atStart: 2_000, atEnd: 8_000 };

/** Sends pings and notifications. A failure to send only causes a warning. */
export interface Notifier {
  commandStarted(): Promise<void>;
  /** Tells the end of a command. @param exitCode of the command: 0 if the run had ended before the command, even with failures */
  commandEnded(
    ended: Omit<EndedCommand, 'actor' | 'exitCode'> & { readonly exitCode: ExitCode },
  ): Promise<void>;
}

export async function openNotifier(
  { settings, terminal }: Pick<CommandInput, 'settings' | 'terminal'>,
  defer: Defer,
): Promise<Notifier | undefined> {
  const { notifyUrl, pingUrl } = settings;
  if (notifyUrl === undefined && pingUrl === undefined) return undefined;
  const { openWebhook, signatureHeaders } = await import('../../../engine/api/webhook.ts');
  const open = (what: string, url: string | undefined): Webhook | undefined => {
    const hook = url === undefined ? undefined : openWebhook(what, url, { variables: environment });
    defer(() => hook?.close());
    return hook;
  };
  const notify = open('--notify-url', notifyUrl);
  const ping = open('--ping-url', pingUrl);
  const secret = await readSecret({
    file: settings.notifySecretFile,
    variable: 'CQBATCH_NOTIFY_SECRET',
    secretName: 'the secret in',
    code: 'NOTIFY_SECRET_UNREADABLE',
  });
  const warnUnlessSent = async (what: string, hook?: Webhook, sending?: Promise<void>): Promise<void> =>
    sending?.catch(({ message }: Error) =>
      terminal.warn(`warning: ${what} on ${hook?.host} was not notified: ${message}`),
    );
  return {
    commandStarted: () =>
      warnUnlessSent(
        '--ping-url',
        ping,
        ping?.post('', { below: '/start', withinMs: notifierWaitMs.atStart }),
      ),
    async commandEnded({ exitCode, error, ...rest }) {
      const told = error && { code: error.code, message: terminal.completed(error.message) };
      const ended = { ...rest, error: told, exitCode: codeOf(exitCode, rest.run), actor: thisActor() };
      const isWanted = exitCode !== exitCodes.success || settings.notifyOn === 'always';
      const body = bodyFor(notify?.host ?? '', ended);
      const headers =
        secret === undefined ? [] : signatureHeaders(secret, `msg_${randomUUID()}`, new Date(), body);
      const withinMs = notifierWaitMs.atEnd;
      await Promise.all([
        warnUnlessSent(
          '--ping-url',
          ping,
          ping?.post(notificationOf(ended).text, { below: `/${ended.exitCode}`, withinMs }),
        ),
        warnUnlessSent(
          '--notify-url',
          notify,
          isWanted ? notify?.post(body, { headers, withinMs }) : undefined,
        ),
      ]);
    },
  };
}

function codeOf(exitCode: ExitCode, run: EndedRun | undefined): ExitCode {
  if (exitCode !== exitCodes.success || run === undefined) return exitCode;
  return exitCodeOf(endOf(run.record), run.summary.outcomes);
}
