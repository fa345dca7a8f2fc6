import { contentIn } from '../../../engine/report/html/page-content.ts';
import type { PlanPageContent } from '../../../engine/report/plan-page/plan-page-data.ts';
import { type Choices, type Draft, draftName, type StartOffer } from '../../server/start/draft.ts';
import { element, redraw } from '../dom.ts';
import { PlanRows } from '../plan/plan-rows.ts';
import { PlanView } from '../plan/plan-view.ts';
import { ChoiceForm } from './choice-form.ts';
import { inChoiceWords } from './choice-words.ts';
import { jobSteps } from './job-steps.ts';
import { targetBand } from './new-run.ts';
import { sendForJson, sendRequest } from './requests.ts';
import { StartForm } from './start-form.ts';

/** The page of a run that is prepared: its choices, its plan, and its start. */
export class DraftPage {
  readonly id: string;
  readonly element = element('div', { class: 'draft' });
  readonly #closing = new AbortController();
  /** Aborts when the shown plan is replaced, whose view listens to the whole page. */
  #replacing = new AbortController();
  readonly #said = element('p', { role: 'status' });
  readonly #refused = element('p', { role: 'alert', class: 'lost' });
  readonly #plan = element('div');
  readonly #choices: ChoiceForm;
  readonly #start: StartForm;
  #draft: Draft | undefined;
  #offer: StartOffer | undefined;

  constructor(id: string) {
    this.id = id;
    this.#choices = new ChoiceForm((choices) => void this.#planWith(choices));
    this.#start = new StartForm((wishes) => this.#startWith(wishes));
    void this.#open();
  }

  close(): void {
    this.#closing.abort();
    this.#replacing.abort();
  }

  #draw(): void {
    const [draft, offer] = [this.#draft, this.#offer];
    const { planned, refusal, run } = draft ?? {};
    const isReady = planned?.plan_sha256 !== undefined;
    redraw(
      this.element,
      element('p', { id: 'trail' }, element('a', { href: '#', id: 'back' }, 'All runs')),
      jobSteps(isReady ? 'Start' : 'Plan'),
      draft !== undefined && element('h1', draftName(draft)),
      run === undefined && element('p', { class: 'quiet' }, 'Nothing has been sent.'),
      planned === undefined && offer !== undefined && targetBand(offer.baseUrl, ''),
      this.#said,
      this.#refused,
      run !== undefined &&
        element(
          'p',
          'It was started as run ',
          element('a', { href: `#run=${run}`, id: 'started' }, run),
          '.',
        ),
      refusal !== undefined && element('p', { class: 'note refusal' }, inChoiceWords(refusal.message)),
      draft !== undefined && run === undefined && offer !== undefined && this.#choices.element,
      this.#plan,
      isReady && this.#start.element,
    );
  }

  async #open(): Promise<void> {
    await this.#attempt('', async () => {
      [this.#offer, this.#draft] = await Promise.all([
        sendForJson<StartOffer>('start.json', undefined, 'GET'),
        sendForJson<Draft>(`drafts/${this.id}`, undefined, 'GET'),
      ]);
      const { source, planned, refusal, run, choices } = this.#draft;
      if (planned !== undefined || refusal !== undefined || run !== undefined) return this.#show();
      // Edits are compared with the entries, which shows old values. The person can leave that out.
      const compare = source.kind === 'file' && this.#offer.lists.length > 0;
      await this.#planWith(Object.keys(choices).length > 0 || !compare ? choices : { compare: true });
    });
  }

  async #planWith(choices: Choices): Promise<void> {
    const doing = choices.compare
      ? 'Reading the entries of the service, and the rows …'
      : 'Reading the rows …';
    await this.#attempt(doing, async () => {
      this.#draft = await sendForJson<Draft>(`drafts/${this.id}/plan`, choices);
      await this.#show();
    });
  }

  /** Shows the plan that the server has. */
  async #show(): Promise<void> {
    const [draft, offer] = [this.#draft, this.#offer];
    if (draft === undefined || offer === undefined) return;
    this.#choices.show(draft, offer);
    if (draft.planned === undefined) {
      this.#plan.replaceChildren();
      return;
    }
    const page = await sendRequest(`drafts/${this.id}/plan.html`, undefined, 'GET');
    const content = contentIn<PlanPageContent>(await page.text());
    if (content === undefined) throw new Error('The plan has no page: plan again.');
    const rows = await PlanRows.read(content);
    if (this.#closing.signal.aborted) return;
    this.#replacing.abort();
    this.#replacing = new AbortController();
    const data = { ...content.data, refusals: content.data.refusals.map(inChoiceWords) };
    const view = new PlanView(data, rows, false, this.#replacing.signal);
    this.#plan.replaceChildren(view.element);
    this.#start.show(draft.planned.callable, offer);
    this.#draw();
    view.followAddress();
  }

  /** @returns why the run was not started; undefined if the page of the run follows */
  async #startWith(wishes: object): Promise<string | undefined> {
    const sha256 = this.#draft?.planned?.plan_sha256;
    try {
      const { run } = await sendForJson<Draft>(`drafts/${this.id}/start`, { ...wishes, sha256 });
      location.hash = `run=${run}`;
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  async #attempt(doing: string, work: () => Promise<void>): Promise<void> {
    this.#said.textContent = doing;
    this.#refused.textContent = '';
    this.element.setAttribute('aria-busy', 'true');
    this.#draw();
    try {
      await work();
    } catch (error) {
      this.#refused.textContent = (error as Error).message;
    }
    this.#said.textContent = '';
    this.element.setAttribute('aria-busy', 'false');
    this.#draw();
  }
}
