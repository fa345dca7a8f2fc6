import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { thisActor } from '../../../actor.ts';
import { steadyNow } from '../../../clock.ts';
import { BusyError } from '../../../errors.ts';
import {
  type Datastore,
  openMetricsFile,
  openWebhook,
  signatureHeaders,
  type Webhook,
} from '../../../index.ts';
import { readVersion } from '../../../package.ts';
import { type AtEnd, withReleases } from '../../../releases.ts';
import { duration } from '../../../text/quantities.ts';
import { environment, type Flags, readSecret } from '../../config/load.ts';
import { type CommandInput, type Context, openContext } from '../../context.ts';
import { type ExitCode, exitCodeOfError, exitCodes, Interrupted } from '../../exit-codes.ts';
import { type Interrupt, interruptible } from '../../interrupt.ts';
import { bodyFor, type EndedRun, newsOf } from '../../render/ended-run.ts';
import type { Terminal } from '../../terminal.ts';

const lookMs = 1_000;

/** What ends when the process that is at work does. A name that is taken stays so. */
const passing = ['DATASTORE_LOCKED', 'RUN_LOCKED', 'RUN_RUNNING'];

/** Takes a run to its end when no other process is at work: counts it for the metrics file, and tells the URLs of the user. */
export async function atWork(
  flags: Flags,
  purpose: string,
  work: (context: Context) => Promise<ExitCode>,
): Promise<ExitCode> {
  return measuring(await openContext(flags), (measured) =>
    notifying(measured, (noted) => whenFree(noted, purpose, work)),
  );
}

/**
 * Does what one process at a time can do, as soon as nobody else does, if that is within `--wait`. The embedded datastore is
 * held from the beginning then: what is found of runs stays so.
 *
 * @param work begins again when it has met somebody else at work.
 * @throws a busy error when somebody else is at work for longer, `Interrupted` when the user has stopped waiting.
 */
export function whenFree<Result>(
  context: Context,
  purpose: string,
  work: (context: Context) => Promise<Result>,
): Promise<Result> {
  const { terminal, settings, datastore } = context;
  if (settings.wait === undefined) return work(context);
  const whenFreed = waiting(terminal, settings.wait);
  if (datastore.queue !== undefined) return whenFreed(() => work(context));
  return withReleases(async (atEnd) => {
    const opened = await whenFreed(async (stopped) => {
      const own = await datastore.open(purpose);
      atEnd(() => own.close());
      refuseStopped(stopped);
      return own;
    });
    const open = async (): Promise<Datastore> => keptOpen(opened);
    return whenFreed(() => work({ ...context, datastore: { queue: undefined, open } }));
  });
}

/** For those who close what they have opened. */
function keptOpen(datastore: Datastore): Datastore {
  return Object.create(datastore, { close: { value: async () => {} } });
}

/** Does work as soon as nobody else is in its way. All that is done by one of these waits for so long in sum. */
function waiting(terminal: Terminal, ms: number) {
  const howLong = duration(ms / 1_000);
  let until: number | undefined;
  /** @throws the error when there is no time left. */
  const pauseAfter = async ({ code, what }: BusyError, stopped: AbortSignal): Promise<void> => {
    if (until === undefined) {
      until = steadyNow() + ms;
      terminal.say(`${what}: waiting for up to ${howLong}. Ctrl-C gives up.`);
    }
    const left = until - steadyNow();
    if (left <= 0) throw new BusyError(code, `${what}, and still is after ${howLong}`, 'Nothing was sent.');
    await pause(Math.min(lookMs, left), undefined, { signal: stopped }).catch(() => {});
    refuseStopped(stopped);
  };
  /** @param work is told when the user has stopped the waiting before it. */
  return async <Result>(work: (stopped?: AbortSignal) => Promise<Result>): Promise<Result> => {
    let interrupt: Interrupt | undefined;
    try {
      for (;;) {
        try {
          return await work(interrupt?.signal);
        } catch (error) {
          if (!(error instanceof BusyError) || !passing.includes(error.code)) throw error;
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
 * Does what a command is for, and keeps the file of its metrics. That this can't be written changes nothing of the exit code.
 *
 * @param work is to let `context.metrics` count
 */
export function measuring(
  context: Context,
  work: (context: Context) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { settings, store, terminal } = context;
  const { metricsFile } = settings;
  if (metricsFile === undefined) return work(context);
  return withReleases(async (atEnd) => {
    const { operations } = store;
    const options = { version: readVersion(), operations, runs: true, once: true };
    const file = await openMetricsFile(metricsFile, options, ({ message }) =>
      terminal.warn(`warning: --metrics-file is not written: ${message}`),
    );
    const { metrics } = file;
    atEnd(() => file.close());
    const code = await work({ ...context, metrics }).catch((error) => {
      metrics.ending(exitCodeOfError(error));
      throw error;
    });
    metrics.ending(code);
    return code;
  });
}

/** Tells the URLs of the user what begins and how it ends. Whether they take it, only a warning says. */
export interface Notifier {
  began(): Promise<void>;
  ended(ended: {
    readonly run?: EndedRun | undefined;
    readonly exitCode: ExitCode;
    readonly error?: Error | undefined;
  }): Promise<void>;
}

/** @returns undefined when nobody is to be told. */
export async function openNotifier(
  { settings, terminal }: Pick<CommandInput, 'settings' | 'terminal'>,
  atEnd: AtEnd,
): Promise<Notifier | undefined> {
  if (settings.notifyUrl === undefined && settings.pingUrl === undefined) return undefined;
  const open = (what: string, url: string | undefined): Webhook | undefined => {
    const hook = url === undefined ? undefined : openWebhook(what, url, { variables: environment });
    atEnd(() => hook?.close());
    return hook;
  };
  const notify = open('--notify-url', settings.notifyUrl);
  const ping = open('--ping-url', settings.pingUrl);
  const secret = await readSecret({
    file: settings.notifySecretFile,
    variable: 'CQBATCH_NOTIFY_SECRET',
    what: 'the secret in',
    code: 'NOTIFY_SECRET_UNREADABLE',
  });
  const telling = async (what: string, hook?: Webhook, told?: Promise<void>): Promise<void> =>
    told?.catch(({ message }: Error) =>
      terminal.warn(`warning: ${what} on ${hook?.host} was not told: ${message}`),
    );
  return {
    began: () => telling('--ping-url', ping, ping?.post('', { below: '/start' })),
    async ended({ run, exitCode, error }) {
      const all = { run, exitCode, error, by: thisActor() };
      const isWanted = exitCode !== exitCodes.success || settings.notifyOn === 'always';
      const body = bodyFor(notify?.host ?? '', all);
      const headers =
        secret === undefined ? [] : signatureHeaders(secret, `msg_${randomUUID()}`, new Date(), body);
      await Promise.all([
        telling('--ping-url', ping, ping?.post(newsOf(all).text, { below: `/${exitCode}` })),
        telling('--notify-url', notify, isWanted ? notify?.post(body, { headers }) : undefined),
      ]);
    },
  };
}

/**
 * Does what a command is for, and tells the URLs of the user how it ended. Whether they take it changes nothing of the
 * exit code.
 *
 * @param work is to hand the run that it took to its end to `context.onEnded`
 */
export function notifying(
  context: Context,
  work: (context: Context) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withReleases(async (atEnd) => {
    const notifier = await openNotifier(context, atEnd);
    if (notifier === undefined) return work(context);
    const starting = notifier.began();
    let run: EndedRun | undefined;
    let failure: unknown;
    const onEnded = (ended: EndedRun): void => {
      run = ended;
    };
    const exitCode = await work({ ...context, onEnded }).catch((error: unknown) => {
      failure = error;
      return exitCodeOfError(error);
    });
    await starting;
    await notifier.ended({ run, exitCode, error: failure as Error | undefined });
    if (failure !== undefined) throw failure;
    return exitCode;
  });
}
