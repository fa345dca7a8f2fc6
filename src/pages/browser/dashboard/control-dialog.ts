import { count, counted } from '../../../base/text/format.ts';
import { apiText, priorities } from '../../../domain/terms.ts';
import type { ControlName, RunData } from '../../server/page-data.ts';
import { button, type Child, element, redraw } from '../dom.ts';

interface Question {
  readonly title: string;
  /** Change with the run while the dialog is open. */
  readonly facts?: (run: RunData) => Child;
  readonly field?: Child;
  readonly verb: string;
  /** What the request has besides the reason. */
  readonly body?: () => object;
}

/** Asks before it controls a run, and shows what the server refuses. */
export class ControlDialog {
  readonly element = element('dialog', { 'aria-labelledby': 'question' });
  readonly #onSent: (run: RunData, control: ControlName) => void;
  #asked: { readonly id: string; readonly facts: Question['facts'] } | undefined;
  readonly #facts = element('div');

  constructor(onSent: (run: RunData, control: ControlName) => void) {
    this.#onSent = onSent;
  }

  ask(run: RunData, control: ControlName, requireReason: boolean): void {
    const { title, facts, field, verb, body } = questions[control](run);
    const reason = element('input', { name: 'reason', id: 'reason', maxlength: '200' });
    const label = `Reason (${requireReason ? 'required' : 'optional'}) `;
    const refused = element('p', { role: 'alert', class: 'lost' });
    // Has the focus at first, so that Enter changes nothing. (The dialog is no form, which Enter would submit.)
    const back = button('Back', () => this.element.close(), { autofocus: true });
    const kind = control === 'cancel' ? 'danger' : 'main';
    const confirm = button(verb, () => void act(), { class: kind });
    this.#asked = { id: run.id, facts };
    this.update([run]);
    const buttons = element('div', { class: 'buttons' }, back, confirm);
    const heading = element('h2', { id: 'question' }, title);
    const content = [heading, this.#facts, field, labelled(label, reason), refused, buttons];
    const parts = element('div', { class: 'question' }, content);
    const act = async (): Promise<void> => {
      if (confirm.ariaBusy === 'true') return;
      confirm.ariaBusy = 'true';
      refused.textContent = '';
      const why = await send(run, control, { ...body?.(), reason: reason.value });
      confirm.ariaBusy = null;
      refused.textContent = why ?? '';
      // Meanwhile, the reader may have opened the dialog of another run.
      if (why !== undefined) return this.#show(parts);
      this.#onSent(run, control);
      if (this.element.contains(parts)) this.element.close();
    };
    this.#show(parts);
  }

  update(runs: readonly RunData[]): void {
    const run = runs.find(({ id }) => id === this.#asked?.id);
    if (run !== undefined) redraw(this.#facts, this.#asked?.facts?.(run));
  }

  #show(parts: HTMLElement): void {
    if (!this.element.contains(parts)) this.element.replaceChildren(parts);
    if (!this.element.open) this.element.showModal();
  }
}

const questions: Readonly<Record<ControlName, (run: RunData) => Question>> = {
  pause: ({ id }) => ({
    title: `Pause run ${id}?`,
    facts: () => element('p', 'Calls in flight finish. No other row is called until you unpause the run.'),
    verb: 'Pause run',
  }),
  unpause: ({ id }) => ({
    title: `Unpause run ${id}?`,
    facts: ({ rows, done }) =>
      element('p', `Its calls continue: ${counted(rows - done, 'row', ['is', 'are'])} left.`),
    verb: 'Unpause run',
  }),
  cancel: ({ id }) => ({
    title: `Cancel run ${id} permanently?`,
    facts: (run) => [
      element(
        'p',
        `Run ${run.id} of ${run.manifest} on ${apiText(run)} is ${run.state}: ${count(run.done)} of ${counted(run.rows, 'row')} done.`,
      ),
      element('p', `${counted(run.rows - run.done, 'row')} will not be called.`),
    ],
    verb: 'Cancel run',
    body: () => ({ confirm: id }),
  }),
  'set-rate': ({ id, wantedRate }) => {
    const input = element('input', { name: 'rate', id: 'rate', value: wantedRate });
    return {
      title: `Set the rate of run ${id}`,
      field: labelled('Rate: 20/s, 600/m, auto, auto..50/s or none ', input),
      verb: 'Set rate',
      body: () => ({ rate: input.value }),
    };
  },
  'set-priority': ({ id, priority: now }) => {
    const options = priorities.map((priority) =>
      element('option', { value: priority, selected: priority === now }, priority),
    );
    const select = element('select', { name: 'priority', id: 'priority' }, options);
    return {
      title: `Set the priority of run ${id}`,
      field: labelled('Rows of a higher priority are called first ', select),
      verb: 'Set priority',
      body: () => ({ priority: select.value }),
    };
  },
};

function labelled(label: string, field: HTMLElement): HTMLElement {
  return element('p', element('label', { for: field.id }, label), field);
}

/** @returns why the server refuses the command; undefined if the server has passed it on to the run */
async function send({ id }: RunData, control: ControlName, body: object): Promise<string | undefined> {
  const answer = await fetch(`/runs/${encodeURIComponent(id)}/${control}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => undefined);
  if (answer?.status === 202) return undefined;
  const refusal = (await answer?.json().catch(() => undefined)) as { message?: string } | undefined;
  return refusal?.message ?? 'The dashboard does not respond.';
}
