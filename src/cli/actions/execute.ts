import { join } from 'node:path';
import { createClient } from '../../api/client.ts';
import type { Journal } from '../../journal/journal.ts';
import { openJournal } from '../../journal/open.ts';
import { Progress } from '../../run/progress.ts';
import type { RunRecord } from '../../run/record.ts';
import type { RunStore } from '../../run/store.ts';
import { type ExecutedRun, executeRun } from '../../worker/execute-run.ts';
import type { Settings } from '../config/settings.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { interruptible } from '../interrupt.ts';
import { openLog } from '../log.ts';
import { progressLine } from '../render/progress.ts';
import { summaryText } from '../render/summary.ts';
import { counted } from '../render/words.ts';
import type { Terminal } from '../terminal.ts';
import { tokenSource } from '../token.ts';
import { discard } from './discard.ts';
import { nextCommands, reportDocument } from './next-commands.ts';

export interface ExecuteInput {
  readonly terminal: Terminal;
  readonly store: RunStore;
  readonly record: RunRecord;
  /** The journal of a new run, open already. */
  readonly journal?: Journal;
  readonly settings: Settings;
  readonly logLevel?: string | undefined;
}

/** How often a screen is redrawn, and how often a line is printed where there is none. */
const drawEveryMs = 100;
const printEveryMs = 5_000;

/** Takes a run to its end, showing how it goes, and prints what it came to. */
export async function execute(input: ExecuteInput): Promise<ExitCode> {
  const { terminal, store, record, settings } = input;
  const { options } = record;
  const log = openLog(input.logLevel);
  const client = createClient({
    baseUrl: options.baseUrl,
    allowInsecureHttp: options.allowInsecureHttp,
    token: tokenSource(settings),
    connections: options.concurrency,
    timeouts: { headersMs: options.timeoutMs, bodyMs: options.timeoutMs, totalMs: options.timeoutMs },
  });
  const interrupt = interruptible(terminal);
  const follower = new Follower(terminal, record);
  let begun = false;
  try {
    const executed = await executeRun({
      store,
      record,
      openJournal: async () =>
        input.journal ??
        openJournal(join(store.folder(record.id), 'journal.jsonl'), { runId: record.id, mustExist: true }),
      client,
      log,
      interrupt: interrupt.signal,
      onStarted(counts) {
        begun = true;
        follower.begin(counts);
      },
      onEvent: (event) => follower.see(event),
      onEnded() {
        follower.end();
        terminal.draw('Writing the report …');
      },
    });
    const { summary, paths } = executed.reports;
    terminal.result(
      reportDocument(executed.record, executed.reports),
      summaryText(summary, paths, nextCommands(executed.record, summary)),
    );
    explainHalt(terminal, executed);
    warnOfAlteredRows(terminal, executed);
    return exitCodeOf(executed);
  } catch (error) {
    if (begun)
      terminal.warn(`Run ${record.id} has stopped; nothing is lost. Go on with: cqbatch resume ${record.id}`);
    else if (input.journal !== undefined) await discard(store, record, input.journal);
    throw error;
  } finally {
    follower.end();
    interrupt.release();
    await client.close();
  }
}

/** Shows the progress of a run. */
class Follower {
  readonly #terminal: Terminal;
  readonly #record: RunRecord;
  readonly #warned = new Set<string>();
  #progress: Progress | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(terminal: Terminal, record: RunRecord) {
    this.#terminal = terminal;
    this.#record = record;
  }

  begin(counts: Journal['outcomeCounts']): void {
    const { id, plan, options } = this.#record;
    this.#terminal.say(`Run ${id} on ${options.baseUrl}`);
    const progress = new Progress({
      total: plan.rows,
      counts,
      ...(options.rate !== undefined && { allowedPerSecond: options.rate.perSecond }),
    });
    this.#progress = progress;
    const { live } = this.#terminal;
    const show = live ? this.#terminal.draw : this.#terminal.say;
    this.#timer = setInterval(
      () => show(progressLine(progress.snapshot())),
      live ? drawEveryMs : printEveryMs,
    );
  }

  see(event: Parameters<Parameters<typeof executeRun>[0]['onEvent']>[0]): void {
    if (event.type === 'finished') this.#progress?.finished(event.result);
    if (event.type === 'retrying') this.#progress?.retrying(event.row);
    if (event.type === 'throttled') this.#progress?.throttled(event.waitMs);
    if (event.type === 'trouble') this.#warnOnce(`The datastore has trouble: ${event.message}`);
  }

  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#terminal.warn(message);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#terminal.draw('');
  }
}

function warnOfAlteredRows(terminal: Terminal, { record, reports }: ExecutedRun): void {
  if (reports.alteredRows === 0) return;
  terminal.warn(
    `${counted(reports.alteredRows, 'row')} hold text that CSV can't: feed them back with "cqbatch retry ${record.id}", not with ` +
      'failed.csv.',
  );
}

function explainHalt(terminal: Terminal, { end }: ExecutedRun): void {
  if (end.state !== 'halted') return;
  if (end.because === 'threshold') terminal.warn('Halted: more rows have failed than --max-failures allows.');
  else terminal.warn(`Halted, because no row can succeed: ${end.failure.code}: ${end.failure.message}`);
}

function exitCodeOf({ end, reports }: ExecutedRun): ExitCode {
  switch (end.state) {
    case 'completed': {
      const { failed, invalid } = reports.summary.outcomes;
      return failed + invalid > 0 ? exitCodes.rowsFailed : exitCodes.success;
    }
    case 'interrupted':
      return exitCodes.interrupted;
    case 'cancelled':
      return exitCodes.halted;
    case 'halted':
      return end.because === 'threshold' ? exitCodes.halted : exitCodes.fatal;
  }
}
