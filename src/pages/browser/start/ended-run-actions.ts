import type { NextStep } from '../../../engine/report/next-step.ts';
import { endFactsOf } from '../../../engine/run/record/ending.ts';
import type { RunData } from '../../server/page-data.ts';
import type { Choices, Draft } from '../../server/start/draft.ts';
import type { ControlDialog } from '../dashboard/control-dialog.ts';
import { button, type Child, element, redraw } from '../dom.ts';
import { sendForJson } from './requests.ts';

/** What a person can do with a run that has ended: resume, retry, undo or check it. A retry and an undo show their plan first. */
export class EndedRunActions {
  readonly element = element('section', { class: 'ended-actions', 'aria-label': 'Actions of this run' });
  readonly #id: string;
  readonly #onChecked: () => void;
  readonly #said = element('p', { role: 'status' });
  readonly #refused = element('p', { role: 'alert', class: 'lost' });
  /** Which rows a retry is about. */
  #retried: Choices = {};
  #isBusy = false;

  /** @param onChecked is called when a check has found something, which the report has then, too */
  constructor(id: string, onChecked: () => void) {
    this.#id = id;
    this.#onChecked = onChecked;
  }

  /** @param steps those of the report, which say what a retry is about. @param others further buttons */
  draw(run: RunData, steps: readonly NextStep[], controls: ControlDialog, others: Child): void {
    const id = this.#id;
    const { succeeded, failed, invalid, not_attempted: uncalled, pending } = run.counts;
    const canResume = endFactsOf(run)?.next === 'resume';
    const [first = ''] = steps.flatMap(({ command }) =>
      command?.startsWith('cqbatch retry ') ? command : [],
    );
    const isAbout = (option: string): boolean => first.split(' ').includes(option);
    this.#retried = {
      ...(isAbout('--unclear') && { unclear: true }),
      ...(isAbout('--transient') && { transient: true }),
    };
    const all = [
      canResume &&
        button('Resume…', () => controls.openQuestion(id, 'resume'), {
          id: `resume-${id}`,
          'data-run': id,
          class: 'main',
        }),
      failed + invalid + uncalled + pending > 0 &&
        button('Retry…', () => void this.#prepare('retry', this.#retried), { id: `retry-${id}` }),
      succeeded + failed > 0 &&
        button('Undo…', () => void this.#prepare('undo', {}), { id: `undo-${id}`, class: 'final' }),
      succeeded + failed > 0 && button('Check', () => void this.#check(), { id: `check-${id}` }),
    ];
    redraw(
      this.element,
      element('div', { class: 'buttons', id: 'ended-buttons' }, all, others),
      this.#said,
      this.#refused,
    );
  }

  #prepare(kind: 'retry' | 'undo', choices: Choices): Promise<void> {
    return this.#attempt(`Planning the ${kind} …`, async () => {
      const { id } = await sendForJson<Draft>(`runs/${this.#id}/${kind}`, choices);
      location.hash = `draft=${id}`;
      return '';
    });
  }

  #check(): Promise<void> {
    return this.#attempt('Reading the entries of the service …', async () => {
      const { text } = await sendForJson<{ readonly text: string }>(`runs/${this.#id}/check`, {});
      this.#onChecked();
      // The report has the rest.
      return text.split('\n', 1)[0] ?? '';
    });
  }

  /** @param work returns what it has found, in words */
  async #attempt(doing: string, work: () => Promise<string>): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#said.textContent = doing;
    this.#refused.textContent = '';
    try {
      this.#said.textContent = await work();
    } catch (error) {
      this.#said.textContent = '';
      this.#refused.textContent = (error as Error).message;
    }
    this.#isBusy = false;
  }
}
