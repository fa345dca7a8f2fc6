import type { ControlName, RunData } from '../../dashboard/page-data.ts';
import { apiText, priorities } from '../../domain.ts';
import { count, counted } from '../../text/quantities.ts';
import { button, type Child, element } from '../dom.ts';

/** Asks before it pauses or cancels a run, and for a rate or priority, and shows what the server refuses. */
export class ControlDialog {
  readonly element = element('dialog', { 'aria-labelledby': 'question' });
  readonly #refused = element('p', { role: 'alert', class: 'refused' });

  ask(run: RunData, control: ControlName): void {
    if (control === 'unpause') void this.#send(run, control, {});
    else if (control === 'pause') this.#askPause(run);
    else if (control === 'cancel') this.#askCancel(run);
    else if (control === 'set-rate') this.#askRate(run);
    else this.#askPriority(run);
  }

  #askPause(run: RunData): void {
    const reason = reasonInput();
    this.#show(
      `Pause run ${run.id}?`,
      [
        element('p', 'Calls in flight finish. No other row is called until you unpause the run.'),
        reason.field,
      ],
      'Pause run',
      () => this.#send(run, 'pause', { reason: reason.input.value }),
    );
  }

  #askCancel(run: RunData): void {
    const { id, manifest, state, rows, done } = run;
    const stand = `Run ${id} of ${manifest} on ${apiText(run)} is ${state}: ${count(done)} of ${counted(rows, 'row')} done.`;
    const reason = reasonInput();
    this.#show(
      `Cancel run ${id} permanently?`,
      [element('p', stand), element('p', `${counted(rows - done, 'row')} will not be called.`), reason.field],
      'Cancel run',
      () => this.#send(run, 'cancel', { confirm: id, reason: reason.input.value }),
    );
  }

  #askRate(run: RunData): void {
    const input = element('input', { name: 'rate', id: 'rate', value: run.wantedRate, required: true });
    const how = 'Rate: 20/s, 600/m, auto, auto..50/s or none ';
    this.#show(
      `Set the rate of run ${run.id}`,
      element('p', element('label', { for: 'rate' }, how), input),
      'Set rate',
      () => this.#send(run, 'set-rate', { rate: input.value }),
    );
  }

  #askPriority(run: RunData): void {
    const options = priorities.map((priority) =>
      element('option', { value: priority, ...(priority === run.priority && { selected: true }) }, priority),
    );
    const select = element('select', { name: 'priority', id: 'priority' }, options);
    this.#show(
      `Set the priority of run ${run.id}`,
      element(
        'p',
        element('label', { for: 'priority' }, 'Rows of a higher priority are called first '),
        select,
      ),
      'Set priority',
      () => this.#send(run, 'set-priority', { priority: select.value }),
    );
  }

  /** Shows a refusal in the open dialog, where the reader can correct the value, or in a new dialog. */
  async #send(run: RunData, control: ControlName, body: object): Promise<void> {
    const answer = await fetch(`/runs/${encodeURIComponent(run.id)}/${control}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).catch(() => undefined);
    if (answer?.status === 202) return this.element.close();
    const told = (await answer?.json().catch(() => undefined)) as { message?: string } | undefined;
    const why = told?.message ?? 'The dashboard does not respond.';
    if (this.element.open) this.#refused.textContent = why;
    else this.#show('Refused', element('p', why));
  }

  /** @param act undefined when there is nothing to confirm */
  #show(title: string, content: Child, verb?: string, act?: () => Promise<void>): void {
    this.#refused.textContent = '';
    const close = button(verb ? 'Back' : 'Close', () => this.element.close());
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

/** The history of the run shows the reason. */
function reasonInput(): { readonly input: HTMLInputElement; readonly field: HTMLElement } {
  const input = element('input', { name: 'reason', id: 'reason', maxlength: '200' });
  return { input, field: element('p', element('label', { for: 'reason' }, 'Reason (optional) '), input) };
}
