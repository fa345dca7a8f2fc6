import { count, counted } from '../../../base/text/format.ts';
import { apiText, priorities } from '../../../domain/terms.ts';
import type { ControlName, RunData } from '../../server/page-data.ts';
import { button, type Child, element } from '../dom.ts';

/** What a dialog asks, and what its button sends. */
interface Question {
  readonly title: string;
  readonly content: Child;
  readonly verb: string;
  /** Whether the command can't be undone. */
  readonly isFinal?: true;
  /** The body of the request, without the reason. */
  readonly body: () => object;
}

/** Asks before it controls a run, and shows what the server refuses. */
export class ControlDialog {
  readonly element = element('dialog', { 'aria-labelledby': 'question' });

  /** @param requireReason whether the settings require a reason */
  ask(run: RunData, control: ControlName, requireReason: boolean): void {
    const { title, content, verb, isFinal, body } = questions[control](run);
    const reason = element('input', { name: 'reason', id: 'reason', maxlength: '200' });
    const label = `Reason (${requireReason ? 'required' : 'optional'}) `;
    const refused = element('p', { role: 'alert', class: 'refused' });
    const confirm = button(verb, () => void act(), { class: isFinal ? 'danger' : 'main' });
    const parts = element(
      'div',
      { class: 'question' },
      element('h2', { id: 'question' }, title),
      content,
      element('p', element('label', { for: 'reason' }, label), reason),
      refused,
      element(
        'div',
        { class: 'buttons' },
        backButton(() => this.element.close()),
        confirm,
      ),
    );
    const act = async (): Promise<void> => {
      if (confirm.ariaBusy === 'true') return;
      confirm.ariaBusy = 'true';
      refused.textContent = '';
      const why = await send(run, control, { ...body(), reason: reason.value });
      confirm.ariaBusy = null;
      refused.textContent = why ?? '';
      // The reader may have closed the dialog meanwhile, and opened the dialog of another run.
      if (why !== undefined) this.#show(parts);
      else if (this.element.contains(parts)) this.element.close();
    };
    this.#show(parts);
  }

  #show(parts: HTMLElement): void {
    if (!this.element.contains(parts)) this.element.replaceChildren(parts);
    if (!this.element.open) this.element.showModal();
  }
}

/** A button that has the focus when its dialog opens, so that Enter changes nothing. (No dialog is a form, which Enter would submit.) */
function backButton(close: () => void): HTMLElement {
  return button('Back', close, { autofocus: true });
}

const questions: Readonly<Record<ControlName, (run: RunData) => Question>> = {
  pause: ({ id }) => ({
    title: `Pause run ${id}?`,
    content: element('p', 'Calls in flight finish. No other row is called until you unpause the run.'),
    verb: 'Pause run',
    body: () => ({}),
  }),
  unpause: ({ id, rows, done }) => ({
    title: `Unpause run ${id}?`,
    content: element('p', `Its calls continue: ${counted(rows - done, 'row', ['is', 'are'])} left.`),
    verb: 'Unpause run',
    body: () => ({}),
  }),
  cancel: (run) => ({
    title: `Cancel run ${run.id} permanently?`,
    content: [
      element(
        'p',
        `Run ${run.id} of ${run.manifest} on ${apiText(run)} is ${run.state}: ${count(run.done)} of ${counted(run.rows, 'row')} done.`,
      ),
      element('p', `${counted(run.rows - run.done, 'row')} will not be called.`),
    ],
    verb: 'Cancel run',
    isFinal: true,
    body: () => ({ confirm: run.id }),
  }),
  'set-rate': ({ id, wantedRate }) => {
    const input = element('input', { name: 'rate', id: 'rate', value: wantedRate });
    const how = 'Rate: 20/s, 600/m, auto, auto..50/s or none ';
    return {
      title: `Set the rate of run ${id}`,
      content: element('p', element('label', { for: 'rate' }, how), input),
      verb: 'Set rate',
      body: () => ({ rate: input.value }),
    };
  },
  'set-priority': ({ id, priority: now }) => {
    const options = priorities.map((priority) =>
      element('option', { value: priority, selected: priority === now }, priority),
    );
    const select = element('select', { name: 'priority', id: 'priority' }, options);
    const how = 'Rows of a higher priority are called first ';
    return {
      title: `Set the priority of run ${id}`,
      content: element('p', element('label', { for: 'priority' }, how), select),
      verb: 'Set priority',
      body: () => ({ priority: select.value }),
    };
  },
};

/** Sends a command. @returns why the server refuses it; undefined if the server has passed it on to the run */
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
