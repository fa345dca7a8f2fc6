import type { Blame, Trouble } from './health-evidence.ts';

/** Verdicts of rows that wait for the next calls to show what is to blame. */
export class HeldVerdicts {
  #verdicts: { readonly trouble: Trouble; readonly release: (blame: Blame) => void }[] = [];

  get length(): number {
    return this.#verdicts.length;
  }

  get troubles(): readonly Trouble[] {
    return this.#verdicts.map(({ trouble }) => trouble);
  }

  hold(trouble: Trouble): Promise<Blame> {
    return new Promise((release) => this.#verdicts.push({ trouble, release }));
  }

  release(blame: Blame, isMeant: (trouble: Trouble) => boolean = () => true): void {
    const meant = this.#verdicts.filter(({ trouble }) => isMeant(trouble));
    this.#verdicts = this.#verdicts.filter(({ trouble }) => !isMeant(trouble));
    for (const { release } of meant) release(blame);
  }
}

/** Whether the trouble is a refusal that would mean "done": only a success shows that it comes from the service. */
export function needsSuccess({ cause }: Trouble): boolean {
  return cause === 'done';
}
