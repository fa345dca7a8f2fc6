import type { Finished } from '../helpers/cqbatch.ts';
import type { Observed } from '../helpers/observed.ts';

/** A command that was started. */
export interface Command {
  readonly words: string;
  readonly process: Observed;
  /** Whether it has ended. */
  readonly ended: boolean;
  readonly end: Promise<Finished>;
}

/** The events of a round, with their times. */
export class Story {
  readonly lines: string[] = [];
  readonly #since = performance.now();

  tell(text: string): void {
    this.lines.push(`${((performance.now() - this.#since) / 1_000).toFixed(2).padStart(6)} s  ${text}`);
  }

  /** Reports how a command ends. */
  follow(args: readonly string[], process: Observed, commands: Command[]): Command {
    const words = args.join(' ');
    this.tell(`${process.pid} begins: cqbatch ${words}`);
    let ended = false;
    const end = process.end.then((finished) => {
      ended = true;
      const said = finished.stderr.trim().split('\n').at(-1) ?? '';
      this.tell(`${process.pid} has ended with ${finished.code}: ${said}`);
      return finished;
    });
    const command = {
      words,
      process,
      end,
      get ended() {
        return ended;
      },
    };
    commands.push(command);
    return command;
  }
}
