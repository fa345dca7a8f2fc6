import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import { loadOperations } from '../../../src/engine/operation/own-operations.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const whole = `name: 'archive-call', thing: 'call', summary: 's', fields: { id: { type: 'integer', required: true } },
  subject: 'id', request: ({ id }) => ({ path: '/' + id }), interpret: () => ({ ok: true, value: 1 }), columns: {}, repeatable: true`;
const exporting = (code: string): string => `export default ({ defineOperation }) => ${code};`;
const defining = (members: string): string => exporting(`defineOperation({ ${members} })`);

async function load(code: string) {
  const path = join(await temporaryFolder(), 'operations.mjs');
  await writeFile(path, code);
  return loadOperations(path, operations);
}

describe('a module of operations', () => {
  test.each([
    ['one', defining(whole)],
    ['several', exporting(`[defineOperation({ ${whole} })]`)],
    [
      'one that it returns as a promise',
      `export default async ({ defineOperation }) => defineOperation({ ${whole} });`,
    ],
  ])('may return %s', async (_title, code) => {
    const [operation] = await load(code);
    expect(operation?.name).toBe('archive-call');
    expect(operation?.request({ id: '5' })).toEqual({ path: '/5', body: '' });
    expect(operation?.schema.safeParse({ id: 'x' }).success).toBe(false);
  });

  test.each([
    ['does not exist', undefined, /can't be loaded: Cannot find|can't be loaded: .*not found/i],
    ['is not JavaScript', 'export default (', /can't be loaded: /],
    ['exports something else', 'export default 5', /must export a function by default/],
    ['returns something else', exporting('[{}]'), /must return what defineOperation has made/],
    ['fails', exporting('{ throw new Error("why") }'), /: why$/],
    [
      'has an operation of the service',
      defining(whole.replace('archive-call', 'update-soundboard')),
      /an operation update-soundboard already exists/,
    ],
    [
      'has a wrong name',
      defining(whole.replace('archive-call', 'Archive call')),
      /Archive call: name: must be words with hyphens/,
    ],
    [
      'has no function for requests',
      defining(whole.replace(/request: .*?\), i/, 'i')),
      /archive-call: request: must be a function/,
    ],
    [
      'has a misspelled member',
      defining(`${whole}, meansAlreadyAplied: () => true`),
      /archive-call: there is no member "meansAlreadyAplied"; did you mean meansAlreadyApplied\?$/,
    ],
    [
      'has a member that does not exist',
      defining(`${whole}, headers: {}`),
      /archive-call: there is no member "headers"; these exist: name, thing, .*, meansDone$/,
    ],
    [
      'has a permission that is no name',
      defining(`${whole}, permission: 'may edit'`),
      /archive-call: permission: must be a name without blanks/,
    ],
    [
      'has a misspelled member of a field',
      defining(whole.replace('required: true', 'required: true, undoabel: true')),
      /archive-call: fields\.id: there is no member "undoabel"; did you mean undoable\?$/,
    ],
    [
      'has a subject that rows may lack',
      defining(whole.replace('required: true', 'required: false')),
      /archive-call: subject: must be a field with required: true/,
    ],
    [
      'has a field with a name that is taken',
      defining(whole.replace('{ id:', '{ old_id: { type: "text" }, id:')),
      /archive-call: fields.old_id: /,
    ],
    [
      'has a field without a type',
      defining(whole.replace("'integer'", "'date'")),
      /archive-call: fields.id.type: /,
    ],
    [
      'has a column that all reports have',
      defining(whole.replace('columns: {}', 'columns: { code: () => 1 }')),
      /archive-call: columns.code: is a column of every report/,
    ],
    [
      'does not say whether it may be repeated',
      defining(whole.replace(', repeatable: true', '')),
      /archive-call: repeatable: /,
    ],
  ])('is refused that %s', async (_title, code, message) => {
    const loaded = code === undefined ? loadOperations('./missing.js', operations) : load(code);
    await expect(loaded).rejects.toMatchObject({ kind: 'usage', code: 'OPERATIONS_UNUSABLE', message });
  });

  test('may be a package', async () => {
    const home = await temporaryFolder();
    const folder = join(home, 'node_modules/our-operations');
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, 'package.json'),
      '{"name":"our-operations","type":"module","exports":"./index.js"}',
    );
    await writeFile(join(folder, 'index.js'), defining(whole));
    expect(await loadOperations('our-operations', operations, home)).toHaveLength(1);
  });
});
