import type { ControlName, RunData } from '../../dashboard/page-data.ts';
import { counted } from '../../text/quantities.ts';
import { button, type Child, element } from '../dom.ts';

/** Asks before a run is cancelled, and for a rate; what the server answers is said there, too. */
export class ControlDialog {
  readonly element = element('dialog', { 'aria-labelledby': 'question' });
  readonly #refused = element('p', { role: 'alert', class: 'refused' });

  ask(run: RunData, control: ControlName): void {
    if (control === 'pause' || control === 'unpause') void this.#send(run, control, {});
    else if (control === 'cancel') this.#askCancel(run);
    else this.#askRate(run);
  }

  #askCancel(run: RunData): void {
    const { id, manifest, baseUrl, state, rows, done } = run;
    const stand = `Run ${id} of ${manifest} on ${baseUrl} is ${state}: ${done} of ${counted(rows, 'row')} done.`;
    this.#show(
      `Cancel run ${id} for good?`,
      [element('p', stand), element('p', `${counted(rows - done, 'row')} will not be called.`)],
      'Cancel the run',
      () => this.#send(run, 'cancel', { confirm: id }),
    );
  }

  #askRate(run: RunData): void {
    const input = element('input', { name: 'rate', id: 'rate', value: run.wantedRate, required: true });
    const how = 'As --rate takes it: 20/s, 600/m, auto, auto..50/s or none ';
    this.#show(
      `Rate of run ${run.id}`,
      element('p', element('label', { for: 'rate' }, how), input),
      'Set the rate',
      () => this.#send(run, 'set-rate', { rate: input.value }),
    );
  }

  /** What is refused can be corrected where it was typed; without a dialog, one says what was refused. */
  async #send(run: RunData, control: ControlName, body: object): Promise<void> {
    const answer = await fetch(`/runs/${encodeURIComponent(run.id)}/${control}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).catch(() => undefined);
    if (answer?.status === 202) return this.element.close();
    const told = (await answer?.json().catch(() => undefined)) as { message?: string } | undefined;
    const why = told?.message ?? 'The dashboard does not answer.';
    if (this.element.open) this.#refused.textContent = why;
    else this.#show('Not done', element('p', why));
  }

  /** @param act absent: there is nothing to be confirmed */
  #show(title: string, content: Child, verb?: string, act?: () => Promise<void>): void {
    this.#refused.textContent = '';
    const close = button(verb ? 'Leave it' : 'Close', () => this.element.close());
    const confirm = verb !== undefined && element('button', { type: 'submit', class: 'main' }, verb);
    const submit = (event: Event): void => {
      event.preventDefault();
      void act?.();
    };
    const form = element(
      'form',
      { method: 'dialog', submit },
      element('h2', { id: 'question' }, title),
      content,
      this.#refused,
      element('div', { class: 'buttons' }, close, confirm),
    );
    this.element.replaceChildren(form);
    if (!this.element.open) this.element.showModal();
  }
}
