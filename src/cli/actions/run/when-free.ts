import { setTimeout as pause } from 'node:timers/promises';
import { steadyNow } from '../../../clock.ts';
import { BusyError } from '../../../errors.ts';
import { type Datastore, openMetricsFile } from '../../../index.ts';
import { readVersion } from '../../../package.ts';
import { type AtEnd, withReleases } from '../../../releases.ts';
import { duration } from '../../../text/quantities.ts';
import type { Flags } from '../../config/load.ts';
import { type CommandInput, type Context, openContext } from '../../context.ts';
import { type ExitCode, exitCodeOfError, Interrupted } from '../../exit-codes.ts';
import { type Interrupt, interruptible } from '../../interrupt.ts';
import type { EndedRun } from '../../render/ended-run.ts';
import type { Terminal } from '../../terminal.ts';
import type { Notifier } from './notifier.ts';

const lookMs = 1_000;

/** Passes when the other process has finished. A name that is taken stays taken. */
const passing = ['DATASTORE_LOCKED', 'RUN_LOCKED', 'RUN_RUNNING'];

/** Takes a run to its end once no other process is in the way: counts it for the metrics file, and notifies the URLs of the user. */
export function runWhenFree(
  flags: Flags,
  purpose: string,
  work: (context: Context) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withReleases(async (atEnd) => {
    const context = await openContext(flags);
    context.datastore.prepare(atEnd);
    return measuring(context, (measured) => notifying(measured, (noted) => whenFree(noted, purpose, work)));
  });
}

/**
 * Does what one process at a time can do, once no other process does it, if that is within `--wait`. The embedded datastore is
 * held from the beginning then: what is found of runs stays so.
 *
 * @param work starts again when another process was in the way.
 * @throws a busy error when another process takes longer, `Interrupted` when the user has stopped waiting.
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
    return whenFreed(() => work({ ...context, datastore: { queue: undefined, prepare() {}, open } }));
  });
}

/** For those who close what they have opened. */
function keptOpen(datastore: Datastore): Datastore {
  return Object.create(datastore, { close: { value: async () => {} } });
}

/** Does work once no other process is in its way. All work done by one of these shares the waiting time. */
function waiting(terminal: Terminal, ms: number) {
  const howLong = duration(ms / 1_000);
  let until: number | undefined;
  /** @throws the error when there is no time left. */
  const pauseAfter = async ({ code, what }: BusyError, stopped: AbortSignal): Promise<void> => {
    if (until === undefined) {
      until = steadyNow() + ms;
      terminal.say(`${what}: waiting for up to ${howLong}. Press Ctrl-C to cancel.`);
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
      terminal.warn(`warning: --metrics-file was not written: ${message}`),
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
    const notifier = await notifierOf(context, atEnd);
    if (notifier === undefined) return work(context);
    const starting = notifier.started();
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

/** Undefined when no URL is set. */
export async function notifierOf(
  input: Pick<CommandInput, 'settings' | 'terminal'>,
  atEnd: AtEnd,
): Promise<Notifier | undefined> {
  const { notifyUrl, pingUrl } = input.settings;
  if (notifyUrl === undefined && pingUrl === undefined) return undefined;
  return (await import('./notifier.ts')).openNotifier(input, atEnd);
}
