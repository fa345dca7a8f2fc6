import { setTimeout as pause } from 'node:timers/promises';
import { steadyNow } from '../../../clock.ts';
import type { Datastore } from '../../../datastore/datastore.ts';
import { BusyError } from '../../../errors.ts';
import { withReleases } from '../../../releases.ts';
import { duration } from '../../../text/quantities.ts';
import type { Flags } from '../../config/load.ts';
import { type Context, openContext } from '../../context.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { type Interrupt, Interrupted, interruptible } from '../../interrupt.ts';
import type { Terminal } from '../../terminal.ts';
import { measuring } from './measure.ts';
import { notifying } from './notify.ts';

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
 * @param work is begun anew when it has met somebody else at work.
 * @throws a busy error when somebody else is at work for longer, `Interrupted` when the user has stopped waiting.
 */
export function whenFree<Result>(
  context: Context,
  purpose: string,
  work: (context: Context) => Promise<Result>,
): Promise<Result> {
  const { terminal, settings, datastore } = context;
  if (settings.wait === undefined) return work(context);
  const wait = new Wait(terminal, settings.wait);
  if (datastore.queue !== undefined) return wait.for(() => work(context));
  return withReleases(async (atEnd) => {
    const opened = await wait.for(async (stopped) => {
      const own = await datastore.open(purpose);
      atEnd(() => own.close());
      refuseStopped(stopped);
      return own;
    });
    const open = async (): Promise<Datastore> => keptOpen(opened);
    return wait.for(() => work({ ...context, datastore: { queue: undefined, open } }));
  });
}

/** For those who close what they have opened. */
function keptOpen(datastore: Datastore): Datastore {
  return Object.create(datastore, { close: { value: async () => {} } });
}

/** A time for which others are waited for. */
class Wait {
  readonly #terminal: Terminal;
  readonly #ms: number;
  #until: number | undefined;

  constructor(terminal: Terminal, ms: number) {
    this.#terminal = terminal;
    this.#ms = ms;
  }

  /** @param work is told when the user has stopped the waiting before it. */
  async for<Result>(work: (stopped?: AbortSignal) => Promise<Result>): Promise<Result> {
    let interrupt: Interrupt | undefined;
    try {
      for (;;) {
        try {
          return await work(interrupt?.signal);
        } catch (error) {
          if (!(error instanceof BusyError) || !passing.includes(error.code)) throw error;
          interrupt ??= interruptible(() => {});
          await this.#pause(error, interrupt.signal);
        }
      }
    } finally {
      interrupt?.release();
    }
  }

  /** @throws the error when there is no time left. */
  async #pause({ code, what }: BusyError, stopped: AbortSignal): Promise<void> {
    const howLong = duration(this.#ms / 1_000);
    if (this.#until === undefined) {
      this.#until = steadyNow() + this.#ms;
      this.#terminal.say(`${what}: waiting for up to ${howLong}. Ctrl-C gives up.`);
    }
    const left = this.#until - steadyNow();
    if (left <= 0) throw new BusyError(code, `${what}, and still is after ${howLong}`, 'Nothing was sent.');
    await pause(Math.min(lookMs, left), undefined, { signal: stopped }).catch(() => {});
    refuseStopped(stopped);
  }
}

function refuseStopped(stopped: AbortSignal | undefined): void {
  if (stopped?.aborted) throw new Interrupted('wait');
}
