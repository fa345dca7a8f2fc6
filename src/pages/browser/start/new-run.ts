import { counted, size } from '../../../base/text/format.ts';
import { localTime } from '../../../base/text/local-time.ts';
import type { Snapshot } from '../../server/page-data.ts';
import { type Draft, draftName, mostUploadBytes, type StartOffer } from '../../server/start/draft.ts';
import { button, type Child, element, redraw } from '../dom.ts';
import { sendForJson } from './requests.ts';

/** Where a person begins a run: a place to drop a file, lists of the service to edit, and runs that are prepared. */
export class NewRun {
  readonly element = element('section', { class: 'new-run', 'aria-label': 'New run' });
  readonly #said = element('p', { role: 'status' });
  readonly #refused = element('p', { role: 'alert', class: 'lost' });
  readonly #file = element('input', {
    type: 'file',
    id: 'manifest-file',
    change: () => void this.#take(this.#file.files?.[0]),
  });
  readonly #drop: HTMLElement;
  #offer: StartOffer | undefined;
  #asked: Promise<void> | undefined;
  #drafts: NonNullable<Snapshot['drafts']> = [];

  constructor() {
    const label = element('label', { for: 'manifest-file' }, 'Drop a file here, or choose one ');
    this.#drop = element('div', { class: 'drop' }, label, this.#file);
    for (const event of ['dragover', 'drop'])
      this.#drop.addEventListener(event, (dragged) => dragged.preventDefault());
    this.#drop.addEventListener('drop', ({ dataTransfer }) => void this.#take(dataTransfer?.files[0]));
  }

  draw({ drafts = [] }: Pick<Snapshot, 'drafts'>): void {
    this.#drafts = drafts;
    this.#asked ??= this.#ask();
    const { baseUrl, lists = [] } = this.#offer ?? {};
    redraw(
      this.element,
      element('h2', 'New run'),
      baseUrl !== undefined &&
        targetBand(baseUrl, 'Nothing is sent before you have seen the plan and started it.'),
      this.#drop,
      this.#said,
      this.#refused,
      lists.length > 0 && [
        element(
          'p',
          'Or edit entries of the service: ',
          lists.map(({ name }) => [element('a', { href: `#edit=${name}`, id: `edit-${name}` }, name), ' ']),
        ),
      ],
      drafts.length > 0 && [
        element('h3', 'Prepared, not started'),
        element('ul', { class: 'drafts' }, drafts.map(draftItem)),
      ],
    );
  }

  async #ask(): Promise<void> {
    this.#offer = await sendForJson<StartOffer>('start.json', undefined, 'GET').catch((error: Error) => {
      this.#refused.textContent = error.message;
      return undefined;
    });
    this.draw({ drafts: this.#drafts });
  }

  async #take(file: File | undefined): Promise<void> {
    if (file === undefined) return;
    this.#refused.textContent = '';
    this.#said.textContent = `Reading ${file.name} (${size(file.size)}) …`;
    try {
      if (file.size > mostUploadBytes)
        throw new Error(
          `${file.name} is larger than ${size(mostUploadBytes)}, the most that a page takes. In a terminal, type: cqbatch plan FILE`,
        );
      const { id } = await sendForJson<Draft>(`drafts?name=${encodeURIComponent(file.name)}`, file);
      location.hash = `draft=${id}`;
    } catch (error) {
      this.#refused.textContent = (error as Error).message;
    } finally {
      this.#said.textContent = '';
      // The same file can be chosen again after a correction.
      this.#file.value = '';
    }
  }
}

/** Says which API this is. There is no field for another one. */
export function targetBand(baseUrl: string, note: string): HTMLElement {
  return element('p', { class: 'target' }, 'Runs go to ', element('b', baseUrl), `. ${note}`);
}

function draftItem(draft: NonNullable<Snapshot['drafts']>[number]): Child {
  const { id, madeAt, calls } = draft;
  const state = calls === undefined ? 'no plan yet' : `${counted(calls, 'call')} planned`;
  const remove = button('Remove', () => void sendForJson(`drafts/${id}/discard`, {}).catch(() => {}), {
    id: `remove-${id}`,
    'aria-label': `Remove ${draftName(draft)}`,
  });
  return element(
    'li',
    { id: `draft-${id}` },
    element('a', { href: `#draft=${id}`, id: `open-${id}` }, draftName(draft)),
    element('span', { class: 'quiet' }, ` ${state}, since ${localTime(madeAt)} `),
    remove,
  );
}
