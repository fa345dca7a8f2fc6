import { setTimeout as pause } from 'node:timers/promises';
import { runId, type Stage } from './stage.ts';
import type { Command } from './story.ts';

/** A standstill of this length counts as a hang: far longer than any lock, pause or look of the program. */
const hangMs = 150_000;
/** The same limit in looks: a machine that stands still does not look either. */
const hangLooks = 600;
/** A round that is still running after this time runs in circles. */
const longestMs = 15 * 60_000;
const ended = new Set(['completed', 'cancelled']);
/** The states of a submitted run that its daemon leaves to the user. */
const left = new Set(['halted', 'failed', 'interrupted']);

/** A user who starts the run, resumes it whenever it has stopped, and keeps its workers alive. */
export class User {
  readonly stage: Stage;
  coordinator: Command | undefined;
  readonly workers: Command[] = [];
  #submitted = false;
  /** Whether processes are left dead for now. */
  #away = 0;

  constructor(stage: Stage) {
    this.stage = stage;
  }

  /** Changes nothing while something is done to the round. */
  async away(work: () => Promise<unknown>): Promise<void> {
    this.#away += 1;
    try {
      await work();
    } finally {
      this.#away -= 1;
    }
  }

  /**
   * Makes sure that some process works on the run, until it has ended. @returns why not, when there was no progress any more
   */
  async untilEnd(isTroubled: () => boolean): Promise<string | undefined> {
    const { stage } = this;
    const startedAt = performance.now();
    let last = '';
    for (let idle = 0; idle < hangLooks; await pause(hangMs / hangLooks)) {
      const record = await stage.record();
      if (!isTroubled() && ended.has(record?.state ?? '')) return undefined;
      if (this.#away === 0 && !ended.has(record?.state ?? '')) await this.#see(record?.state);
      const progress = await stage.progress();
      if (performance.now() - startedAt > longestMs) return `it goes in a circle: ${progress}`;
      idle = progress === last ? idle + 1 : 0;
      last = progress;
    }
    return `nothing goes on any more: ${last}`;
  }

  /** Ends what would never end by itself. @returns what did not end */
  async leave(): Promise<readonly string[]> {
    const { commands, story } = this.stage;
    story.tell('all processes are told to end');
    const going = commands.filter(({ ended }) => !ended);
    for (const { words, process } of going) if (words.startsWith('worker')) process.kill('SIGTERM');
    return unended(going);
  }

  async #see(state: string | undefined): Promise<void> {
    const { scenario } = this.stage;
    const concurrency = ['--concurrency', String(scenario.concurrency), '--timeout', '2s'];
    for (let which = 0; which < scenario.workers; which += 1) {
      if (this.workers[which]?.ended !== false)
        this.workers[which] = this.stage.start('worker', ...concurrency);
    }
    if (scenario.submitted && !this.#submitted) {
      const submit = this.stage.start('submit', 'rows.csv', ...this.#options());
      const { code } = await submit.end;
      this.#submitted = code === 0 || (await this.stage.record()) !== undefined;
      return;
    }
    if (this.coordinator?.ended === false) {
      if (scenario.submitted && left.has(state ?? '')) await this.#resume(this.coordinator);
      return;
    }
    this.coordinator = this.#coordinate(state);
  }

  /** On the embedded datastore only one process can work at a time. */
  async #resume(daemon: Command): Promise<void> {
    if (!this.stage.scenario.redis) {
      daemon.process.kill('SIGTERM');
      await daemon.end;
    }
    await this.stage.start('resume', runId).end;
  }

  #coordinate(state: string | undefined): Command {
    const { calls, concurrency, submitted } = this.stage.scenario;
    if (submitted)
      return this.stage.start(
        ...['worker', '--coordinate', '--timeout', '2s'],
        ...['--concurrency', calls ? String(concurrency) : '0'],
      );
    const here = calls ? [] : ['--no-worker'];
    if (state !== undefined) return this.stage.start('resume', runId, ...here);
    const log = ['--log-level', 'info'];
    return this.stage.start('run', 'rows.csv', '--or-resume', ...this.#options(), ...here, ...log);
  }

  #options(): string[] {
    const { rate, priority, concurrency, inOrder, saveResponses, submitted, canary } = this.stage.scenario;
    return [
      ...['--run-id', runId, '--yes', '--rate', rate, '--priority', priority],
      ...(submitted ? [] : ['--concurrency', String(concurrency), '--timeout', '2s']),
      ...(inOrder ? ['--on-conflict', 'in-order'] : []),
      ...(saveResponses ? ['--save-responses'] : []),
      ...(canary > 0 ? ['--canary', String(canary)] : []),
    ];
  }
}

/** @returns which commands do not end within the time after which a round counts as hung */
export async function unended(commands: readonly Command[]): Promise<readonly string[]> {
  const late = pause(hangMs, undefined, { ref: false });
  await Promise.race([Promise.all(commands.map(({ end }) => end)), late]);
  return commands.filter(({ ended }) => !ended).map(({ words }) => `cqbatch ${words} does not end`);
}
