import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import { loadOperations } from '../../../src/engine/operation/own-operations.ts';
import { describeOnPosix } from '../../helpers/describe-with-program.ts';
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

const refused = { kind: 'usage', code: 'OPERATIONS_UNUSABLE' };

describe('a module of operations', () => {
  test('may return one', async () => {
    const [operation] = await load(defining(whole));
    expect(operation?.name).toBe('archive-call');
    expect(operation?.request({ id: '5' })).toEqual({ path: '/5', body: '' });
    expect(operation?.schema.safeParse({ id: 'x' }).success).toBe(false);
  });

  const required = 'required: true';

  test.each<[what: string, message: RegExp, code: string | undefined]>([
    ['does not exist', /: there is no such file or package; the path begins with \.\/ or \/$/, undefined],
    ['exports something else', /must have a function as default export/, 'export default 5'],
    ['returns something else', /must return an operation made by defineOperation/, exporting('[{}]')],
    ['fails', /\.mjs: line 3: why$/, exporting('{\n\n throw new Error("why\\nand more") }')],
  ])('is refused that %s', async (_what, message, code) => {
    const loaded = code === undefined ? loadOperations('./missing.js', operations) : load(code);
    await expect(loaded).rejects.toMatchObject({ ...refused, message: expect.stringMatching(message) });
  });

  const done = "name: 'done-calls', request: () => ({ path: '/' }), one: () => 1, differs: () => {}";
  const list = "name: 'calls', request: () => ({ path: '/' }), entries: 'calls', fields: ['id'], columns: {}";

  test.each<{ readonly found: string; readonly instead: string; readonly message: RegExp }>([
    { found: "'calls', r", instead: "'Calls', r", message: /list.name: must be words with hyphens/ },
    { found: "'calls', r", instead: "'soundboards', r", message: /a list soundboards already exists/ },
    {
      found: "'calls', f",
      instead: "'data.calls', f",
      message: /list.entries: must be the name of a member/,
    },
    { found: "['id']", instead: '[]', message: /list.fields: must have the subject, id/ },
    { found: "['id']", instead: "['id', 'x']", message: /list.fields: names x, which is not a field/ },
    {
      found: 'columns: {}',
      instead: 'columns: { id: () => 1 }',
      message: /list.columns.id: is the name of a field/,
    },
    {
      found: 'columns: {}',
      instead: 'columns: {}, nxt: 1',
      message: /list: there is no member "nxt"; did you mean next/,
    },
    { found: '() => (', instead: 'async () => (', message: /list.request: must not be async/ },
    {
      found: 'columns: {}',
      instead: `columns: {}, done: { ${done.replace('() => 1', '7')} }`,
      message: /list.done.one: must be a function/,
    },
    {
      found: 'columns: {}',
      instead: `columns: {}, done: { ${done}, differ: 1 }`,
      message: /list.done: there is no member "differ"; did you mean differs/,
    },
  ])('is refused with $found of its list changed to $instead', async ({ found, instead, message }) => {
    const loaded = load(defining(`${whole}, list: { ${list.replace(found, instead)} }`));
    await expect(loaded).rejects.toMatchObject({ ...refused, message: expect.stringMatching(message) });
  });

  test.each<[found: RegExp | string, instead: string, message: RegExp]>([
    ['archive-call', 'update-soundboard', /an operation update-soundboard already exists/],
    [/request: .*?\), i/, 'i', /archive-call: request: must be a function/],
    [/$/, ', headers: {}', /: there is no member "headers"; these exist: name, thing, .*, list$/],
    [
      required,
      `${required}, undoabel: 1`,
      /: fields\.id: there is no member "undoabel"; did you mean undoable\?$/,
    ],
    ['request: (', 'request: async (', /: line 1: archive-call: request: must not be async: what it returns/],
    [required, 'required: false', /archive-call: subject: must be a field with required: true/],
    ['{ id:', '{ old_id: { type: "text" }, id:', /archive-call: fields.old_id: /],
    ["'integer'", "'date'", /archive-call: fields.id.type: /],
    ['columns: {}', 'columns: { code: () => 1 }', /archive-call: columns.code: is a column of every report/],
    [', repeatable: true', '', /archive-call: repeatable: /],
  ])('is refused with %s changed to %j', async (found, instead, message) => {
    const loaded = load(defining(whole.replace(found, instead)));
    await expect(loaded).rejects.toMatchObject({ ...refused, message: expect.stringMatching(message) });
  });

  test('may be a package', async () => {
    const home = await temporaryFolder();
    const folder = join(home, 'node_modules/our-operations');
    await mkdir(folder, { recursive: true });
    const manifest = { name: 'our-operations', type: 'module', exports: './index.js' };
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(folder, 'index.js'), defining(whole));
    expect(await loadOperations('our-operations', operations, home)).toHaveLength(1);
  });
});

describeOnPosix('a pipe instead of a module', () => {
  test('is refused, and not waited for', async () => {
    const path = join(await temporaryFolder(), 'operations.mjs');
    execFileSync('mkfifo', [path]);
    const message = `--operations ${path}: it is a pipe, not a file`;
    await expect(loadOperations(path, operations)).rejects.toMatchObject({ ...refused, message });
  });
});
