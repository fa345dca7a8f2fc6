import { count, counted } from '../../../base/text/format.ts';
import { apiText, priorities } from '../../../domain/terms.ts';
import type { ControlName, RunData, Snapshot } from '../../server/page-data.ts';
import { button, type Child, element, redraw } from '../dom.ts';

/** What the dialog asks about: a run in progress is controlled, a stopped one is resumed. */
type Asked = ControlName | 'resume';

interface Question {
  readonly title: string;
  readonly facts?: Child;
  /** An input whose `name` is that of a member of the request. */
  readonly field?: Child;
  readonly verb: string;
}

type LatestRuns = Pick<Snapshot, 'runs' | 'ended' | 'requireReason'>;

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
  #latest: LatestRuns = { runs: [], ended: [], requireReason: false };
  #openDialog: { readonly id: string; readonly control: Asked } | undefined;
  readonly #facts = element('div');
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
    const { title, field, verb } = questions[control](run);
    const reason = element('input', { name: 'reason', id: 'reason', maxlength: '200' });
    const isReasonRequired = this.#latest.requireReason || (control === 'resume' && run.state === 'halted');
    const label = `Reason (${isReasonRequired ? 'required' : 'optional'}) `;
    const refused = element('p', { role: 'alert', class: 'lost' });
    // This button has the focus at first, so that Enter changes nothing. (The dialog is no form, which Enter would submit.)
    const back = button('Back', () => this.element.close(), { autofocus: true });
    const confirm = button(verb, () => void act(), { class: control === 'cancel' ? 'danger' : 'main' });
    const buttons = element('div', { class: 'buttons' }, back, confirm);
    const heading = element('h2', { id: 'question' }, title);
    const content = [heading, this.#facts, field, labelledInput(label, reason), refused, buttons];
    const parts = element('div', { class: 'question' }, content);
    const act = async (): Promise<void> => {
      if (confirm.ariaBusy === 'true') return;
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

  /** Shows the facts of the run, which change while the dialog is open. */
  update(latest: LatestRuns): void {
    this.#latest = latest;
    const run = this.#runOf(this.#openDialog?.id);
    if (run && this.#openDialog) redraw(this.#facts, questions[this.#openDialog.control](run).facts);
  }
}

const questions: Readonly<Record<Asked, (run: RunData) => Question>> = {
  pause: ({ id }) => ({
    title: `Pause run ${id}?`,
    facts: element('p', 'Calls in flight finish. No other row is called until you unpause the run.'),
    verb: 'Pause run',
  }),
  unpause: ({ id, rows, done }) => ({
    title: `Unpause run ${id}?`,
    facts: element('p', `Its calls continue: ${counted(rows - done, 'row', ['is', 'are'])} left.`),
    verb: 'Unpause run',
  }),
  cancel: (run) => ({
    title: `Cancel run ${run.id} permanently?`,
    facts: [
      element(
        'p',
        `Run ${run.id} of ${run.manifest} on ${apiText(run)} is ${run.state}: ${count(run.done)} of ${counted(run.rows, 'row')} done.`,
      ),
      element('p', `${counted(run.rows - run.done, 'row')} will not be called.`),
    ],
    verb: 'Cancel run',
  }),
  'set-rate': ({ id, wantedRate }) => ({
    title: `Set the rate of run ${id}`,
    field: labelledInput(
      'Rate: 20/s, 600/m, 100/15s, auto, auto..50/s or none ',
      element('input', { name: 'rate', id: 'rate', value: wantedRate }),
    ),
    verb: 'Set rate',
  }),
  'set-priority': ({ id, priority }) => {
    const options = priorities.map((each) => element('option', { selected: each === priority }, each));
    const select = element('select', { name: 'priority', id: 'priority' }, options);
    return {
      title: `Set the priority of run ${id}`,
      field: labelledInput('Rows of a higher priority are called first ', select),
      verb: 'Set priority',
    };
  },
  resume: ({ id, local, counts }) => ({
    title: `Resume run ${id}?`,
    facts: [
      local?.steps
        .filter(({ group }) => group !== 'retry' && group !== 'correct' && group !== 'decide')
        .map(({ title, text }) => element('p', element('b', title), '. ', text)),
      counts.failed > 0 &&
        element('p', element('a', { href: `#run=${id}&show=failed` }, 'Look at the failed rows first')),
    ],
    verb: 'Resume run',
  }),
};

function labelledInput(label: string, field: HTMLElement): HTMLElement {
  return element('p', element('label', { for: field.id }, label), field);
}

/** Sends a command. @returns why the server refuses it; undefined if the server has passed it on to the run */
async function send(id: string, control: Asked, parts: HTMLElement): Promise<string | undefined> {
  const fields = [...parts.querySelectorAll<HTMLInputElement>('[name]')];
  const given = Object.fromEntries(fields.map(({ name, value }) => [name, value]));
  const answer = await fetch(`runs/${encodeURIComponent(id)}/${control}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ confirm: id, ...given }),
  }).catch(() => undefined);
  if (answer?.status === 202) return undefined;
  const refusal = (await answer?.json().catch(() => undefined)) as { message?: string } | undefined;
  return refusal?.message ?? 'The dashboard does not respond.';
}
