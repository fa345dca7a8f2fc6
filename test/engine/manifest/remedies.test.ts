import { describe, expect, test } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import { CqbatchError } from '../../../src/base/errors/errors.ts';
import { requestOfValues } from '../../../src/engine/operation/shown-request.ts';
import { checkManifest } from '../../../src/engine/run/plan/check-manifest.ts';
import { refusals } from '../../../src/engine/run/plan/readiness.ts';
import { openRunStore } from '../../../src/engine/run/record/store.ts';
import { rowOptions } from '../../../src/settings/run-options.ts';
import { resolveSettings } from '../../../src/settings/settings.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { manifestFile } from './reading.ts';

/** What a plan of a manifest says with an option: its requests, and everything that is printed to read. */
async function plan(name: string, content: string | Buffer, option = '', value = '') {
  const key = option.slice(2).replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const isPermit = ['', 'trim', 'skipInvalid', 'allowEmpty'].includes(key);
  const given = key === 'map' ? [value] : key === 'trustQuotes' ? 'yes' : value;
  const flags = isPermit ? {} : { [key]: given };
  const settings = resolveSettings({ flags, environment: {}, fields: ['user_id'] });
  const path = await manifestFile(name, content);
  try {
    const store = openRunStore(await temporaryFolder(), operations);
    const reading = rowOptions({ trim: key === 'trim' }, settings);
    const { scan, problems } = await checkManifest(store, { path, name, reading });
    const permits = {
      skipInvalid: key === 'skipInvalid',
      allowEmpty: key === 'allowEmpty',
      allowPartial: true,
    };
    const { onConflict = 'refuse' } = settings;
    const none = { baseUrl: undefined, isNewTarget: undefined };
    const refused = refusals({ manifest: { name }, scan, onConflict, ...permits, ...none }).map(
      ({ text }) => text,
    );
    const said = [...refused, ...problems.firstProblems, ...scan.warnings.map(({ message }) => message)].join(
      '\n',
    );
    return {
      isReady: refused.length === 0,
      said,
      bodies: scan.preview.map(
        ({ operation, values }) => requestOfValues(operations, { operation: operation.name, values }).body,
      ),
    };
  } catch (error) {
    if (!(error instanceof CqbatchError)) throw error;
    return { isReady: false, said: error.message, bodies: [] };
  }
}

/** The options that a text tells to pass, as a shell reads them. */
function optionsIn(text: string): readonly (readonly [option: string, value: string])[] {
  const found = text.matchAll(/(--[a-z][a-z-]*)(?: (?:"([^"]*)"|'([^']*)'|([\w=.-]+)))?/g);
  return [...found].map(([, option = '', ...values]) => [option, values.find(Boolean) ?? '']);
}

const restore = (id: number, user: string) => `{"evaluation_id":${id},"user_id":"${user}"}`;
const row = restore(2, 'u1');
const utf16 = Buffer.from('evaluation_id,user_id\n2,u1\n', 'utf16le');
const latin1 = Buffer.from('soundboard_id,title\n41,M\xfcnchen\n', 'latin1');

test.each<[title: string, remedy: string, content: string | Buffer]>([
  ['a user for an export that names other people', '--user-id', 'evaluation_id,agent_user_id\n2,a-1\n'],
  ['a mistyped title', '--map', 'evalution_id,user_id\n2,u1\n'],
  ['a page of an answer', '--rows-at', `{"entities":[${row}],"total":300,"pageCount":150}`],
  ['a page on several lines', '--rows-at', `{"data":\n{"items":[${row}]},"total":1}`],
  ['rows beside other members', '--rows-at', `{"rows":[${row}],\n"took":3}`],
  ['a title line', '--skip-lines', 'My export\n\nevaluation_id,user_id\n2,u1\n'],
  ['UTF-16', '--encoding', utf16],
  ['Windows-1252', '--encoding', latin1],
  ['text with blanks', '--trim', 'soundboard_id,title\n41, x \n'],
  ['a text with lines like rows', '--trust-quotes', 'soundboard_id,title\n41,"x\n43,y"\n'],
  ['an invalid row', '--skip-invalid', 'evaluation_id,user_id\n2,u1\nx,u1\n'],
  ['rows that contradict each other', '--on-conflict', 'soundboard_id,title\n41,x\n41,y\n'],
  ['a header alone', '--allow-empty', 'evaluation_id,user_id\n'],
])('a remedy of a plan is typed, and works: %s: %s', async (_title, remedy, content) => {
  const name = String(content).startsWith('{') ? 'a.json' : 'a.csv';
  const [option, value] = optionsIn((await plan(name, content)).said).find(([each]) => each === remedy) ?? [];
  expect(option).toBe(remedy);
  const { isReady, bodies } = await plan(name, content, option, value);
  expect([isReady, bodies.length > 0]).toEqual([true, remedy !== '--allow-empty']);
});

describe('no remedy makes wrong values ready', () => {
  test('people who did something else are not suggested as the user', async () => {
    const header = 'evaluation_id,agent_user_id,deleted_by_user_id,scorer_id';
    const { said } = await plan('a.csv', `${header}\n2,a-1,b,c\n`);
    expect(said).toContain('user_id is missing (--user-id ID gives it for all rows)');
    expect(said).not.toContain('--map');
  });

  test.each([
    ['evaluation_id,user_id;note\n2,u1;x\n4,u2;y\n', '";"'],
    ['soundboard_id;title,description\n41;x,y\n', '";"'],
    ['evaluation_id,user_id\tnote\n2,u1\tx\n', 'a tab'],
  ])('a file with two delimiters is named as such: %j', async (content, other) => {
    const { said, isReady } = await plan('a.csv', content);
    expect(isReady).toBe(false);
    expect(said).toMatch(/ in the title .*use one delimiter in the whole file, or rename the column$/);
    expect(said.startsWith(`a.csv: ${other} separates the names in the title `)).toBe(true);
    expect((await plan('a.csv', content, '--user-id', 'u')).isReady).toBe(false);
  });

  test.each([
    ['="9007199254740993",u1\n="4",u2\n', '2:2'],
    ['4,="u1"\n', '2:4'],
  ])("a spreadsheet's text mark is named: %j", async (rows, place) => {
    const { said } = await plan('a.csv', `evaluation_id,user_id\n${rows}`);
    expect(said).toBe(
      `a.csv:${place}: this cell has a spreadsheet's text mark; write only what is between the quotes, 123 in place of ="123"`,
    );
    const mended = rows.replaceAll(/="([^"]*)"/g, '$1');
    expect((await plan('a.csv', `evaluation_id,user_id\n${mended}`)).isReady).toBe(true);
  });

  test('a page says that there are more, and the path is the only remedy', async () => {
    const page = `{"entities":[${row}],"pageSize":2,"pageNumber":1,"total":300,"nextUri":"/x?pageNumber=2"}`;
    const { said } = await plan('a.json', page);
    expect(said).toBe('a.json: the rows seem to be in "entities"; pass --rows-at entities');
    expect((await plan('a.json', page, '--rows-at', 'entities')).said).toBe(
      'the file has 1 row, but its "total" is 300, and its "nextUri" points to more pages: fetch the other pages, too',
    );
  });

  const other = restore(4, 'u2');

  test.each([
    ['arrays', `[${row}][\n${other}]`, 'jq -s add FILE > rows.json'],
    [
      'pages, one on each line',
      `{"data":[${row}]}\n{"data":[${other}]}\n`,
      'jq -s "[.[].data[]]" FILE > rows.json',
    ],
  ])('several JSON documents in a file are joined first: %s', async (_title, content, command) => {
    const { said } = await plan('a.json', content);
    expect(said).toContain(`: ${command} (with jq 1.7 or later: before, it rounds long identifiers)`);
    const joined = await plan('rows.json', `[${row},${other}]`);
    expect(joined).toMatchObject({ isReady: true, bodies: [row, other] });
  });
});
