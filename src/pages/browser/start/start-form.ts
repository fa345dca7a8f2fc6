import { count, counted, typedDigits } from '../../../base/text/format.ts';
import type { StartOffer } from '../../server/start/draft.ts';
import { button, element, redraw } from '../dom.ts';

/** The rows that are called first, so that a person can look before the others are. */
const fewRows = 10;

export interface StartAnswers {
  readonly confirm: number;
  readonly reason: string;
  readonly ten_first: boolean;
}

/** Asks what `cqbatch run` asks before its first call: the number of calls, which shows that the person has read it, and a reason. */
export class StartForm {
  readonly element = element('section', { 'aria-label': 'Start', class: 'start' });
  readonly #start: (answers: StartAnswers) => Promise<string | undefined>;
  readonly #number = element('input', { id: 'calls', inputmode: 'numeric', autocomplete: 'off', size: '8' });
  readonly #reason = element('input', { id: 'start-reason', maxlength: '200', size: '40' });
  readonly #first = element('input', { type: 'checkbox', id: 'ten-first', checked: true });
  readonly #refused = element('p', { role: 'alert', class: 'lost' });
  readonly #button = button('Start the run', () => void this.#answer(), { class: 'main', id: 'start' });
  #calls = 0;

  /** @param start starts the run, and returns why that is refused */
  constructor(start: (answers: StartAnswers) => Promise<string | undefined>) {
    this.#start = start;
    this.element.addEventListener('keydown', (event) => {
      // Enter in a text field starts the run, on a checkbox it does nothing.
      const isText = event.target === this.#number || event.target === this.#reason;
      if (event.key === 'Enter' && isText) void this.#answer();
    });
  }

  show(calls: number, { baseUrl, oneRunAtATime }: StartOffer): void {
    this.#calls = calls;
    const field = (id: string, label: string, input: HTMLElement) =>
      element('p', element('label', { for: id }, label), ' ', input);
    redraw(
      this.element,
      element('h2', 'Start'),
      element('p', `${counted(calls, 'call')} to ${baseUrl}.`),
      field('calls', `Type ${calls} to confirm`, this.#number),
      field('start-reason', 'Reason', this.#reason),
      calls > fewRows &&
        element('p', this.#first, ' ', element('label', { for: 'ten-first' }, tenText(calls, oneRunAtATime))),
      this.#refused,
      element('div', { class: 'buttons' }, this.#button),
    );
  }

  async #answer(): Promise<void> {
    if (this.#button.ariaBusy === 'true') return;
    const typed = typedDigits(this.#number.value);
    if (typed !== String(this.#calls)) {
      this.#refused.textContent = `Type the number of calls, ${count(this.#calls)}, to show that you have read it.`;
      this.#number.focus();
      return;
    }
    this.#button.ariaBusy = 'true';
    this.#refused.textContent = '';
    const why = await this.#start({
      confirm: this.#calls,
      reason: this.#reason.value,
      ten_first: this.#first.checked && this.#calls > fewRows,
    });
    this.#button.ariaBusy = null;
    this.#refused.textContent = why ?? '';
  }
}

function tenText(calls: number, oneRunAtATime: boolean): string {
  const text = `Ten rows first: the run then pauses, and you decide about the other ${count(calls - fewRows)}`;
  return oneRunAtATime ? `${text}. Other runs wait meanwhile` : text;
}
