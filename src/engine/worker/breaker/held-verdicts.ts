import type { Blame, Trouble } from './health-evidence.ts';

/** Verdicts of rows that wait for the next calls to show what is to blame. */
export class HeldVerdicts {
  #held: { readonly trouble: Trouble; readonly release: (blame: Blame) => void }[] = [];

  get length(): number {
    return this.#held.length;
  }

  get troubles(): readonly Trouble[] {
    return this.#held.map(({ trouble }) => trouble);
  }

  hold(trouble: Trouble): Promise<Blame> {
    return new Promise((release) => this.#held.push({ trouble, release }));
  }

  release(blame: Blame, isMeant: (trouble: Trouble) => boolean = () => true): void {
    const meant = this.#held.filter(({ trouble }) => isMeant(trouble));
    this.#held = this.#held.filter(({ trouble }) => !isMeant(trouble));
    for (const { release } of meant) release(blame);
  }
}

/** Whether the trouble is a refusal that would mean "done": only a success shows that it comes from the service. */
export function needsSuccess({ cause }: Trouble): boolean {
  return cause === 'done';
}
