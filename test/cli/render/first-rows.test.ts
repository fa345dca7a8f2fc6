import fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstRowsText } from '../../../src/cli/render/first-rows.ts';
import { widthOf } from '../../../src/cli/render/style.ts';
import type { CallableRow, PlannedOperation } from '../../../src/engine/rows/row.ts';
import { anyCharacter } from '../../any-character.ts';
import { callable, renaming, summaryOf } from '../../engine/rows/decided-rows.ts';
import { readable, scenes } from './scenes.ts';

const restoring: PlannedOperation = {
  name: 'restore-evaluation',
  thing: 'evaluation',
  done: 'restored',
  subject: 'id',
  columns: [],
  fields: ['id', 'user_id'].map((name) => ({ name, required: true, undoable: false })),
};

const names = ['title', 'note', ...Array.from({ length: 12 }, (_, index) => `field_${index}`)];
const editing: PlannedOperation = {
  ...renaming,
  name: 'edit-entry',
  fields: ['id', ...names].map((name) => ({ name, required: name === 'id', undoable: true })),
};

const edit = (values: CallableRow['values'], old?: CallableRow['old']): Partial<CallableRow> => ({
  operation: editing,
  values: { id: '7', ...values },
  ...(old && { old }),
});
/** A required field besides the identifier says how the operation acts, and is no change. */
const inGroup: PlannedOperation = {
  ...editing,
  fields: [{ name: 'group', required: true, undoable: false }, ...editing.fields],
};
const restore = { operation: restoring, values: { id: '7', user_id: 'u-17' } };
const compared = { compared: true } as const;
const long = 'The quick brown fox jumps over the lazy dog. '.repeat(9);

function textOf(rows: readonly Partial<CallableRow>[], columns: number): string {
  const given = rows.map((row, index) => ({
    ...callable,
    row: index + 1,
    subject: String(200 + index),
    ...row,
  }));
  return firstRowsText(summaryOf(given), columns, '--open shows all');
}

const ofEach: readonly Partial<CallableRow>[] = [
  restore,
  restore,
  edit({ title: 'A', note: '' }, { title: 'B' }),
];

const cases: readonly (readonly [what: string, rows: readonly Partial<CallableRow>[]])[] = [
  ['restores', [restore, restore]],
  [
    'an operation without other fields',
    [{ operation: { ...restoring, done: 'closed' }, values: { id: '7' } }],
  ],
  ['a restore among edits', [restore, edit({ title: 'A' })]],
  ['no old value is known', [edit({ title: 'A', note: '' })]],
  ['some old values are known', [edit({ title: 'A', note: '' }, { note: 'B' }), edit({ title: '' })]],
  ['an old value is the same', [edit({ title: 'A', note: 'N' }, { title: 'A', note: '' })]],
  [
    'an operation with another required field',
    [
      { ...edit({ title: 'A', group: 'g' }), operation: inGroup },
      { ...edit({ group: 'g' }), operation: inGroup },
    ],
  ],
  ['compared rows show what changes', [{ ...edit({ title: 'A', note: 'N' }, { note: 'M' }), ...compared }]],
  ['a compared restore', [{ ...restore, ...compared, old: {} }]],
  ['long texts that differ in the end', [edit({ title: `${long}A` }, { title: `${long}B` })]],
  ['a long text that is longer now', [edit({ title: `${long}A` }, { title: long })]],
  ['a long text and a short one', [edit({ title: 'A' }, { title: long })]],
  ['a long text that is new', [edit({ title: long }), edit({ note: 'B' })]],
  [
    'a long identifier',
    [{ ...edit({ title: 'A' }, { title: 'B' }), subject: `https://a.example/${long}#7` }],
  ],
  ['controls and right-to-left marks', [edit({ title: 'a\u001b[31m\n\u202eb' }, { title: '\u0007' })]],
  ['many fields', [edit(Object.fromEntries(names.map((name) => [name, 'x'])))]],
  ['more rows', Array.from({ length: 1_200 }, () => edit({ title: 'A' }))],
  ['rows of several lines', Array.from({ length: 12 }, () => edit({ title: 'A', note: 'B', field_0: 'C' }))],
  ['two operations', [...Array(50).fill(restore), ...Array(50).fill(edit({ title: 'A' }))]],
  ['nothing', []],
];

test('a table shows the first rows, and what becomes of their entries', async () => {
  const drawn = scenes(cases, (rows) => readable(textOf(rows, 80)));
  await expect(drawn).toMatchFileSnapshot('../screens/first-rows.txt');
});

test('on a narrow screen, each row has lines of its own', async () => {
  const drawn = scenes(cases, (rows) => readable(textOf(rows, 40)));
  await expect(drawn).toMatchFileSnapshot('../screens/first-rows-narrow.txt');
});

test('each line of a row fits the screen, whatever the values', () => {
  const text = fc.string({ unit: anyCharacter, maxLength: 200 });
  const row = fc.record({ subject: text, title: text, old: fc.option(text, { nil: undefined }) });
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 40, max: 200 }),
      (rows, columns) => {
        const shown = rows.map(({ subject, title, old }) => ({
          ...edit({ title }, old === undefined ? undefined : { title: old }),
          subject,
        }));
        for (const line of textOf([...ofEach, ...shown], columns).split('\n'))
          expect(widthOf(line)).toBeLessThanOrEqual(columns);
      },
    ),
  );
});
