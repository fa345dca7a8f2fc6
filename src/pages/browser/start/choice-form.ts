import { counted } from '../../../base/text/format.ts';
import type { ConflictRule } from '../../../domain/terms.ts';
import type { Choices, Draft, StartOffer } from '../../server/start/draft.ts';
import { button, type Child, element, redraw } from '../dom.ts';

/** A column that is not sent. */
const unsent = '';

const conflictTexts: Readonly<Record<ConflictRule, string>> = {
  refuse: 'Refuse them',
  last: 'Call only the last row of each entry',
  'in-order': 'Call all of them, in the order of the file',
};

/** Asks what a plan needs to know, in the words of the plan. A new answer makes a new plan. */
export class ChoiceForm {
  readonly element = element('section', { 'aria-label': 'Choices', class: 'choice-form' });
  readonly #plan: (choices: Choices) => void;
  /** The choices of the plan that is shown. */
  #planned: Choices = {};

  constructor(plan: (choices: Choices) => void) {
    this.#plan = plan;
  }

  show(draft: Draft, offer: StartOffer): void {
    const { source, choices, planned, refusal } = draft;
    this.#planned = choices;
    const isFile = source.kind === 'file';
    const questions: readonly Child[] = [
      isFile &&
        (choices.operation !== undefined || planned === undefined) &&
        operationQuestion(offer, choices),
      isFile && planned !== undefined && columnQuestion(planned, offer, choices),
      isFile && (refusal !== undefined || choices.userId !== undefined) && userQuestion(choices),
      flagQuestion(
        'skipInvalid',
        choices,
        planned?.invalid,
        (rows) => `Leave out ${counted(rows, 'invalid row')}`,
      ),
      flagQuestion(
        'allowPartial',
        choices,
        planned?.partial,
        (rows) =>
          `Send ${counted(rows, 'row')} although the service may reset the fields that they leave out`,
      ),
      ((planned?.conflicts ?? 0) > 0 || choices.onConflict !== undefined) && conflictQuestion(choices),
      isFile &&
        offer.lists.length > 0 &&
        checkbox(
          'compare',
          'Compare with the entries of the service: shows old values, and leaves out what is so already',
          choices,
        ),
    ];
    const isOpen = refusal !== undefined || planned?.plan_sha256 === undefined;
    redraw(
      this.element,
      element(
        'details',
        { id: 'choices', open: isOpen },
        element('summary', 'Choices'),
        questions,
        element(
          'div',
          { class: 'buttons' },
          button('Plan again', () => this.#plan(this.#answers()), { id: 'plan-again' }),
        ),
      ),
    );
  }

  #answers(): Choices {
    const choices = this.#planned;
    const value = (name: string): string | undefined =>
      this.element.querySelector<HTMLInputElement | HTMLSelectElement>(`[name="${name}"]`)?.value.trim();
    const isTicked = (name: string): boolean =>
      this.element.querySelector<HTMLInputElement>(`input[name="${name}"]`)?.checked === true;
    const map = Object.fromEntries(
      [...this.element.querySelectorAll<HTMLSelectElement>('select[data-column]')].flatMap(
        ({ value: field, dataset: { column = '', planned = '' } }) =>
          field !== unsent && (field !== planned || choices.map?.[column] === field) ? [[column, field]] : [],
      ),
    );
    const [operation, userId, onConflict] = ['operation', 'userId', 'onConflict'].map(value);
    return {
      ...(operation && { operation }),
      ...(userId && { userId }),
      ...(onConflict && { onConflict: onConflict as ConflictRule }),
      ...(Object.keys(map).length > 0 && { map }),
      ...(isTicked('skipInvalid') && { skipInvalid: true }),
      ...(isTicked('allowPartial') && { allowPartial: true }),
      ...(isTicked('compare') && { compare: true }),
      ...(choices.transient && { transient: true }),
      ...(choices.unclear && { unclear: true }),
    };
  }
}

function labelled(name: string, label: string, field: HTMLElement): HTMLElement {
  field.setAttribute('name', name);
  field.id = `choice-${name}`;
  return element('p', element('label', { for: field.id }, label), ' ', field);
}

function optionList(
  options: readonly (readonly [value: string, text: string])[],
  chosen: string | undefined,
): readonly HTMLElement[] {
  return options.map(([value, text]) =>
    element('option', { value, selected: value === (chosen ?? '') }, text),
  );
}

function operationQuestion({ operations }: StartOffer, { operation }: Choices): HTMLElement {
  const options = operations.map(({ name, summary }) => [name, summary] as const);
  const list = optionList([['', 'Tell by the columns'], ...options], operation);
  return labelled('operation', 'What to do with each row', element('select', list));
}

/** A row for each column: the field to which it goes. */
function columnQuestion(
  { columns, fields, operations }: NonNullable<Draft['planned']>,
  offer: StartOffer,
  { operation }: Choices,
): HTMLElement {
  const wanted = new Set([...operations, operation]);
  const offered = offer.operations.filter(({ name }) => wanted.size === 1 || wanted.has(name));
  const names = [...new Set(offered.flatMap((each) => each.fields))];
  const known = names.flatMap((name) => [name, `old_${name}`]);
  const rows = columns.map((column, index) => {
    const field = fields[column] ?? unsent;
    const all = field === unsent || known.includes(field) ? names : [...names, field];
    const options = [[unsent, 'is not sent'] as const, ...all.map((name) => [name, name] as const)];
    const select = element(
      'select',
      { id: `column-${index}`, 'data-column': column, 'data-planned': field },
      optionList(options, field),
    );
    return element('p', element('label', { for: select.id }, `Column "${column}"`), ' ', select);
  });
  return element('fieldset', element('legend', 'Columns'), rows);
}

function userQuestion({ userId = '' }: Choices): HTMLElement {
  return labelled(
    'userId',
    'user_id of rows that have none',
    element('input', { value: userId, maxlength: '200' }),
  );
}

function flagQuestion(
  name: 'skipInvalid' | 'allowPartial',
  choices: Choices,
  rows: number | undefined,
  text: (rows: number) => string,
): Child {
  return (choices[name] || (rows ?? 0) > 0) && checkbox(name, text(rows ?? 0), choices);
}

function checkbox(
  name: 'skipInvalid' | 'allowPartial' | 'compare',
  text: string,
  choices: Choices,
): HTMLElement {
  const box = element('input', {
    type: 'checkbox',
    name,
    id: `choice-${name}`,
    checked: choices[name] === true,
  });
  return element('p', box, ' ', element('label', { for: box.id }, text));
}

function conflictQuestion({ onConflict }: Choices): HTMLElement {
  const select = element('select', optionList(Object.entries(conflictTexts), onConflict ?? 'refuse'));
  return labelled('onConflict', 'Rows that change one entry in different ways', select);
}
