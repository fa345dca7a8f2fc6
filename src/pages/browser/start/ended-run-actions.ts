import type { NextStep } from '../../../engine/report/next-steps.ts';
import { endFactsOf } from '../../../engine/run/record/ending.ts';
import type { RunData } from '../../server/page-data.ts';
import type { Choices, Draft } from '../../server/start/draft.ts';
import type { ControlDialog } from '../dashboard/control-dialog.ts';
import { button, element, redraw } from '../dom.ts';
import { sendForJson } from './requests.ts';

/** What a person can do with a run that has ended: resume, retry, undo or check it. A retry and an undo show their plan first. */
export class EndedRunActions {
  readonly element = element('section', { class: 'ended-actions', 'aria-label': 'Actions of this run' });
  readonly #id: string;
  readonly #onChecked: () => void;
  readonly #said = element('p', { role: 'status' });
  readonly #refused = element('p', { role: 'alert', class: 'lost' });
  readonly #found = element('pre', { class: 'found-by-check', id: 'found-by-check', hidden: true });
  #isBusy = false;

  /** @param onChecked is called when a check has found something, which the report has then, too */
  constructor(id: string, onChecked: () => void) {
    this.#id = id;
    this.#onChecked = onChecked;
  }

  /** @param steps those of the report, which say what a retry is about */
  draw(run: RunData, steps: readonly NextStep[], controls: ControlDialog): void {
    const id = this.#id;
    const { succeeded, failed, invalid, not_attempted: uncalled, pending } = run.counts;
    const canResume = endFactsOf(run)?.next === 'resume';
    const transient = steps.some(({ command }) => command === `cqbatch retry ${id} --transient`);
    const choices: Choices = transient ? { transient: true } : {};
    const retry = () => this.#prepare('retry', choices);
    const all = [
      canResume &&
        button('Resume…', () => controls.openQuestion(id, 'resume'), {
          id: `resume-${id}`,
          'data-run': id,
          class: 'main',
        }),
      failed + invalid + uncalled + pending > 0 &&
        button('Retry…', () => void retry(), { id: `retry-${id}` }),
      succeeded + failed > 0 &&
        button('Undo…', () => void this.#prepare('undo', {}), { id: `undo-${id}`, class: 'final' }),
      succeeded + failed > 0 && button('Check', () => void this.#check(), { id: `check-${id}` }),
    ];
    redraw(
      this.element,
      element('div', { class: 'buttons', id: 'ended-buttons' }, all),
      this.#said,
      this.#refused,
      this.#found,
    );
  }

  #prepare(kind: 'retry' | 'undo', choices: Choices): Promise<void> {
    return this.#attempt(`Planning the ${kind} …`, async () => {
      const { id } = await sendForJson<Draft>(`runs/${this.#id}/${kind}`, choices);
      location.hash = `draft=${id}`;
    });
  }

  #check(): Promise<void> {
    return this.#attempt('Reading the entries of the service …', async () => {
      const { text } = await sendForJson<{ readonly text: string }>(`runs/${this.#id}/check`, {});
      this.#found.textContent = text;
      this.#found.hidden = false;
      this.#onChecked();
    });
  }

  async #attempt(doing: string, work: () => Promise<void>): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#said.textContent = doing;
    this.#refused.textContent = '';
    try {
      await work();
    } catch (error) {
      this.#refused.textContent = (error as Error).message;
    }
    this.#isBusy = false;
    this.#said.textContent = '';
  }
}
