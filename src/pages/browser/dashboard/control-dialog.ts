import { count, typedDigits } from '../../../base/text/format.ts';
import type { RunData, Snapshot } from '../../server/page-data.ts';
import { button, element, redraw } from '../dom.ts';
import { sendRequest } from '../start/requests.ts';
import { type Asked, labelledInput, questions } from './control-questions.ts';

type Known = Pick<Snapshot, 'runs' | 'ended' | 'requireReason' | 'mayControl'>;

/** After this time without an effect of a command, the reader can give it again. */
const longestAskedMs = 15_000;

/** Asks before it controls a run, and shows what the server refuses. */
export class ControlDialog {
  readonly element = element('dialog', {
    'aria-labelledby': 'question',
    click: ({ target }) => {
      // A link leads to what the question is about, which the dialog would cover.
      if (target instanceof HTMLAnchorElement) this.element.close();
    },
    close: () => {
      const { activeElement: focused, body } = document;
      if (focused !== body && !this.element.contains(focused)) return;
      // The button that opened the dialog is gone, because the run has ended: move the focus to the link of the run.
      const link = document.getElementById(`run-${this.#openDialog?.id}`) ?? document.getElementById('back');
      link?.focus();
    },
  });
  readonly #onSent: () => void;
  #latest: Known = { runs: [], ended: [], requireReason: false, mayControl: true };
  #openDialog: { readonly id: string; readonly control: Asked } | undefined;
  readonly #facts = element('div');
  /** The button that sends what the open dialog asks for. */
  #confirm: HTMLButtonElement | undefined;
  /** The commands that the reader has sent, by the id of the run. */
  readonly #sentControls = new Map<string, Pick<RunData, 'state'> & { control: Asked; at: number }>();

  constructor(onSent: () => void) {
    this.#onSent = onSent;
  }

  /** The command that the reader has sent to a run, until the state of the run changes. */
  pendingControl({ id, state }: RunData): Asked | undefined {
    const sent = this.#sentControls.get(id);
    const isPending = sent?.state === state && performance.now() - sent.at < longestAskedMs;
    return isPending ? sent.control : undefined;
  }

  openQuestion(id: string, control: Asked): void {
    const run = this.#runOf(id);
    if (run === undefined) return;
    const { title, field, numberToType, verb } = questions[control](run);
    const reason = element('input', { name: 'reason', id: 'reason', maxlength: '200' });
    const isReasonRequired = this.#latest.requireReason || (control === 'resume' && run.state === 'halted');
    const label = `Reason (${isReasonRequired ? 'required' : 'optional'}) `;
    const typed = element('input', { id: 'typed', inputmode: 'numeric', autocomplete: 'off' });
    const number = numberToType && labelledInput(`Type ${numberToType}, the number of its rows `, typed);
    const refused = element('p', { role: 'alert', class: 'lost' });
    // This button has the focus at first, so that Enter changes nothing. (The dialog is no form, which Enter would submit.)
    const back = button('Back', () => this.element.close(), { autofocus: true });
    const confirm = button(verb, () => void act(), { class: control === 'cancel' ? 'danger' : 'main' });
    const buttons = element('div', { class: 'buttons' }, back, confirm);
    const heading = element('h2', { id: 'question' }, title);
    const inputs = [field, number || undefined, labelledInput(label, reason)];
    const content = [heading, this.#facts, inputs, refused, buttons];
    const parts = element('div', { class: 'question' }, content);
    const act = async (): Promise<void> => {
      if (confirm.ariaBusy === 'true') return;
      const fields = [...parts.querySelectorAll('input')];
      if (!fields.every((each) => each.reportValidity())) return;
      if (numberToType !== undefined && typedDigits(typed.value) !== String(numberToType)) {
        refused.textContent = `Type the number of rows, ${count(numberToType)}, to show that you have read it.`;
        typed.focus();
        return;
      }
      confirm.ariaBusy = 'true';
      refused.textContent = '';
      const why = await send(id, control, parts);
      confirm.ariaBusy = null;
      refused.textContent = why ?? '';
      // Before the server answers, the reader may have closed the dialog, or opened that of another run.
      if (why !== undefined) return this.#show(id, control, parts);
      this.#sentControls.set(id, { control, state: run.state, at: performance.now() });
      this.#onSent();
      if (this.element.contains(parts)) this.element.close();
    };
    this.#confirm = confirm;
    this.#show(id, control, parts);
  }

  #runOf(id: string | undefined): RunData | undefined {
    return [...this.#latest.runs, ...this.#latest.ended].find((run) => run.id === id);
  }

  #show(id: string, control: Asked, parts: HTMLElement): void {
    this.#openDialog = { id, control };
    this.update(this.#latest);
    if (!this.element.contains(parts)) this.element.replaceChildren(parts);
    if (!this.element.open) this.element.showModal();
  }

  /** Shows the facts of the run, which change while the dialog is open. Without the dashboard, nothing can be sent. */
  update(latest: Known): void {
    this.#latest = latest;
    if (this.#confirm !== undefined) this.#confirm.disabled = !latest.mayControl;
    const run = this.#runOf(this.#openDialog?.id);
    if (run && this.#openDialog) redraw(this.#facts, questions[this.#openDialog.control](run).facts);
  }
}

/** Sends a command. @returns why the server refuses it; undefined if the server has passed it on to the run */
async function send(id: string, control: Asked, parts: HTMLElement): Promise<string | undefined> {
  const fields = [...parts.querySelectorAll<HTMLInputElement>('[name]:not([type=radio])')];
  const given = Object.fromEntries(fields.map(({ name, value }) => [name, value]));
  const path = `runs/${encodeURIComponent(id)}/${control}`;
  return sendRequest(path, { confirm: id, ...given }).then(
    () => undefined,
    ({ message }: Error) => message,
  );
}
