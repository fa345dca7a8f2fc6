import { setTimeout as sleep } from 'node:timers/promises';
import { BusyError } from '../../errors.ts';
import { type Found, Inbox } from '../../inbox/inbox.ts';
import { escapeInvisible } from '../../printable.ts';
import type { Flags } from '../config/load.ts';
import { defaults } from '../config/settings.ts';
import { type Context, openContext } from '../context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { type Interrupt, interruptible, stopping } from '../interrupt.ts';
import { inboxText } from '../render/inbox.ts';
import { proxyTo, tokenSource, wayTo } from './api-client.ts';
import { type CarriedOut, carryOut } from './inbox-manifest.ts';
import { notifying } from './notify.ts';
import { calls, runOptions } from './options.ts';
import { requireConsent } from './planned-run.ts';

const lookMs = 1_000;
/** A watcher leaves the embedded datastore to others for so long before it complains. */
const patienceMs = 24 * 60 * 60 * 1_000;

/** The worst comes first. */
const severity = [
  exitCodes.interrupted,
  exitCodes.fatal,
  exitCodes.busy,
  exitCodes.spent,
  exitCodes.halted,
  exitCodes.usage,
  exitCodes.rowsFailed,
];

/** `cqbatch watch`: runs each manifest that is put into a folder, until it is stopped. */
export async function watch(path: string, flags: Flags): Promise<ExitCode> {
  const context = await openContext(flags);
  const { settings } = context;
  const patient = { ...context, settings: { wait: patienceMs, ...settings } };
  const work = await InboxWork.open(patient, path);
  if (work === undefined) return declined(context);
  return work.untilStopped();
}

/** `cqbatch run … --once`: runs each manifest that waits in a folder. */
export async function runOnce(context: Context, path: string): Promise<ExitCode> {
  const { notifyUrl: _notifyUrl, ...pinging } = context.settings;
  const { pingUrl: _pingUrl, ...telling } = context.settings;
  // Of each manifest people are told by itself.
  return notifying({ ...context, settings: pinging }, async () => {
    const work = await InboxWork.open({ ...context, settings: telling }, path);
    return work === undefined ? declined(context) : work.untilEmpty();
  });
}

function declined({ terminal }: Context): ExitCode {
  terminal.result({ state: 'declined' }, 'Nothing was sent.');
  return exitCodes.usage;
}

/** The manifests of an inbox, one after the other. */
class InboxWork {
  readonly #context: Context;
  readonly #inbox: Inbox;
  readonly #carriedOut: CarriedOut[] = [];
  readonly #said = new Set<string>();

  private constructor(context: Context, inbox: Inbox) {
    this.#context = context;
    this.#inbox = inbox;
  }

  /**
   * Finds out, before any manifest is taken, whether it could be run.
   *
   * @returns undefined when the user does not want it.
   */
  static async open(context: Context, path: string): Promise<InboxWork | undefined> {
    const { terminal, flags, settings, store } = context;
    const options = runOptions(context);
    const callsHere = calls(context);
    if (callsHere) await tokenSource(settings).current();
    requireConsent(context);
    const { settle: settleMs = defaults.settle } = settings;
    const inbox = await Inbox.open({ path, stateDir: store.stateDir, settleMs });
    const what = `Run each manifest in ${escapeInvisible(path)} on ${wayTo(options.baseUrl, callsHere ? proxyTo(options) : undefined)}, with no further question?`;
    if (!flags.yes && !(await terminal.confirm(what))) return undefined;
    return new InboxWork({ ...context, flags: { ...flags, yes: true } }, inbox);
  }

  async untilStopped(): Promise<ExitCode> {
    const { terminal } = this.#context;
    const stop = interruptible(stopping(terminal));
    const say = ({ document }: CarriedOut): void => {
      if (terminal.json) terminal.result(document, '');
    };
    terminal.say(`Watching ${escapeInvisible(this.#inbox.folder)}. Ctrl-C stops.`);
    try {
      for (;;) {
        await this.#untilNoneWaits(stop, say).catch((error: unknown) => {
          if (!(error instanceof BusyError)) throw error;
          this.#sayOnce(error.message);
        });
        // A supervisor starts it anew, and it goes on with what it has left.
        const [unfinished] = this.#carriedOut.filter(({ folder }) => folder === 'unfinished');
        if (stop.signal.aborted) return unfinished?.exitCode ?? exitCodes.success;
        if (unfinished !== undefined) return unfinished.exitCode;
        this.#carriedOut.length = 0;
        await pause(lookMs, stop.signal);
        if (stop.signal.aborted) return exitCodes.success;
      }
    } finally {
      stop.release();
    }
  }

  async untilEmpty(): Promise<ExitCode> {
    const { terminal, settings } = this.#context;
    const { settle = defaults.settle } = settings;
    const stop = interruptible(stopping(terminal));
    try {
      let growing = await this.#untilNoneWaits(stop);
      // What was put there a moment ago may be complete.
      if (growing.length > 0 && !this.#hasStopped(stop)) {
        await pause(settle, stop.signal);
        growing = await this.#untilNoneWaits(stop);
      }
      const manifests = this.#carriedOut.map(({ document }) => document);
      const folders = this.#carriedOut.map(({ folder }) => folder);
      terminal.result({ manifests, growing }, inboxText(folders, growing.length));
      if (stop.signal.aborted) return exitCodes.interrupted;
      return severity.find((code) => this.#carriedOut.some(({ exitCode }) => exitCode === code)) ?? 0;
    } finally {
      stop.release();
    }
  }

  /** @returns the names of what somebody may still be writing. */
  async #untilNoneWaits(
    stop: Interrupt,
    onCarriedOut: (carriedOut: CarriedOut) => void = () => {},
  ): Promise<readonly string[]> {
    for (;;) {
      if (this.#hasStopped(stop)) return [];
      const { manifest, growing } = await this.#next();
      if (manifest === undefined) return growing;
      try {
        const carriedOut = await carryOut(this.#context, manifest);
        this.#carriedOut.push(carriedOut);
        onCarriedOut(carriedOut);
      } finally {
        await manifest.release();
      }
    }
  }

  /** Whether the user wants it, or a run can't go on for a reason that others would meet as well. */
  #hasStopped({ signal }: Interrupt): boolean {
    return signal.aborted || this.#carriedOut.some(({ folder }) => folder === 'unfinished');
  }

  async #next(): Promise<Found> {
    const { terminal, store } = this.#context;
    const found = await this.#inbox.next(async (id) => (await store.look(id)) !== undefined);
    for (const { name, taking } of found.others) {
      if (taking.kind === 'copy') {
        const { name: first, run } = taking.of;
        terminal.say(
          `${escapeInvisible(name)} is a copy of ${escapeInvisible(first)}, run ${run}: put to ${taking.path}`,
        );
      }
      if (taking.kind === 'elsewhere')
        this.#sayOnce(`${escapeInvisible(name)} waits: its content is with ${taking.who}`);
    }
    return found;
  }

  #sayOnce(text: string): void {
    if (!this.#said.has(text)) this.#context.terminal.warn(text);
    this.#said.add(text);
  }
}

/** Keeps the process alive meanwhile. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
