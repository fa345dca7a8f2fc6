import { count, counted } from '../../../base/text/format.ts';
import { type Draft, type EditableList, mostUploadBytes, type StartOffer } from '../../server/start/draft.ts';
import { button, element, redraw, searchField } from '../dom.ts';
import { jobSteps } from './job-steps.ts';
import { targetBand } from './new-run.ts';
import { sendForJson, sendRequest } from './requests.ts';

type Entry = Readonly<Record<string, string | null>>;

/** The most entries in the table. The search finds the others. */
const mostShown = 200;

/** The entries of a list of the service, in a table in which a person edits one field of them. */
export class EditPage {
  readonly id: string;
  readonly element = element('div', { class: 'edit-page' });
  readonly #said = element('p', { role: 'status' });
  readonly #refused = element('p', { role: 'alert', class: 'lost' });
  readonly #changed = element('p', { 'aria-live': 'polite', id: 'changed' });
  readonly #search = searchField('find-entry', 'Search the entries', () => {
    // The field itself stays as it is: it would lose the focus.
    if (this.#list !== undefined) this.#drawTable(this.#list);
  });
  readonly #body = element('div');
  /** The new values that the person has typed, by entry and field. */
  readonly #edits = new Map<string, Map<string, string>>();
  #offer: StartOffer | undefined;
  #list: EditableList | undefined;
  #entries: readonly Entry[] = [];
  #field = '';

  constructor(name: string) {
    this.id = name;
    void this.#read();
  }

  close(): void {}

  async #read(): Promise<void> {
    this.#said.textContent = `Reading the ${this.id} of the service …`;
    this.#draw();
    try {
      this.#offer = await sendForJson<StartOffer>('start.json', undefined, 'GET');
      this.#list = this.#offer.lists.find(({ name }) => name === this.id);
      if (this.#list === undefined)
        throw new Error(`The service has no list ${this.id} that can be edited here.`);
      this.#field = this.#list.fields.includes('title') ? 'title' : (this.#list.fields[0] ?? '');
      const lines = await (await sendRequest(`lists/${this.id}`)).text();
      this.#entries = lines
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Entry);
    } catch (error) {
      this.#refused.textContent = (error as Error).message;
    }
    this.#said.textContent = '';
    this.#draw();
  }

  #draw(): void {
    const list = this.#list;
    redraw(
      this.element,
      element('p', { id: 'trail' }, element('a', { href: '#', id: 'back' }, 'All runs')),
      jobSteps('File'),
      this.#offer !== undefined && targetBand(this.#offer.baseUrl, 'Nothing has been sent.'),
      element('h1', `Edit ${this.id}`),
      this.#said,
      this.#refused,
      list !== undefined && this.#entries.length > 0 && [this.#tools(list), this.#body, this.#end()],
    );
    if (list !== undefined) this.#drawTable(list);
  }

  #tools({ fields }: EditableList): HTMLElement {
    const choose = ({ target }: Event): void => {
      this.#field = (target as HTMLSelectElement).value;
      this.#draw();
    };
    const options = fields.map((name) => element('option', { selected: name === this.#field }, name));
    const select = element('select', { id: 'edited-field', change: choose }, options);
    return element(
      'div',
      { class: 'tools', id: 'edit-tools' },
      this.#search,
      element('label', { for: select.id }, 'Edit '),
      select,
    );
  }

  #drawTable(list: EditableList): void {
    const { subject, fields } = list;
    const words = this.#search.value.toLowerCase().split(/\s+/);
    const others = fields.filter((field) => field !== this.#field).slice(0, 3);
    const shown = [subject, this.#field, ...others];
    const found = this.#entries.filter((entry) => {
      const text = shown
        .map((field) => entry[field] ?? '')
        .join(' ')
        .toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const head = shown.map((name) => element('th', { scope: 'col' }, name));
    const rows = found.slice(0, mostShown).map((entry) => {
      const id = entry[subject] ?? '';
      const cells = others.map((field) => element('td', entry[field] ?? ''));
      return element('tr', element('th', { scope: 'row' }, id), element('td', this.#input(entry, id)), cells);
    });
    const text =
      found.length > rows.length
        ? `${count(rows.length)} of ${count(found.length)} entries: search for the others.`
        : `${count(found.length)} of ${count(this.#entries.length)} entries`;
    this.#body.replaceChildren(
      element('p', { class: 'quiet' }, text),
      element(
        'div',
        { class: 'wide', tabindex: '0', role: 'region', 'aria-label': `Entries of ${this.id}` },
        element('table', element('thead', element('tr', head)), element('tbody', rows)),
      ),
    );
  }

  #input(entry: Entry, id: string): HTMLElement {
    const field = this.#field;
    const old = entry[field] ?? '';
    const typed = ({ target }: Event): void => {
      const { value } = target as HTMLInputElement;
      const edits = this.#edits.get(id) ?? new Map<string, string>();
      if (value === old) edits.delete(field);
      else edits.set(field, value);
      if (edits.size === 0) this.#edits.delete(id);
      else this.#edits.set(id, edits);
      this.#showChanged();
    };
    return element('input', {
      value: this.#edits.get(id)?.get(field) ?? old,
      input: typed,
      'aria-label': `${field} of ${id}`,
    });
  }

  #end(): HTMLElement {
    const plan = button('Plan these edits', () => void this.#plan(), { class: 'main', id: 'plan-edits' });
    this.#showChanged();
    return element('div', { class: 'buttons', id: 'edit-end' }, this.#changed, plan);
  }

  #showChanged(): void {
    const { size } = this.#edits;
    this.#changed.textContent = size === 0 ? 'Nothing is changed yet.' : `${counted(size, 'row')} changed.`;
  }

  async #plan(): Promise<void> {
    const list = this.#list;
    if (list === undefined) return;
    this.#refused.textContent = '';
    if (this.#edits.size === 0) {
      this.#refused.textContent = `Change the ${this.#field} of an entry first.`;
      return;
    }
    const rows = [...this.#edits].map(([id, edits]) => ({
      operation: list.operation,
      [list.subject]: id,
      ...Object.fromEntries(edits),
    }));
    const file = new Blob([JSON.stringify(rows)]);
    try {
      if (file.size > mostUploadBytes) throw new Error('These edits are too many for a page.');
      const { id } = await sendForJson<Draft>(`drafts?name=${this.id}.json`, file);
      location.hash = `draft=${id}`;
    } catch (error) {
      this.#refused.textContent = (error as Error).message;
    }
  }
}
