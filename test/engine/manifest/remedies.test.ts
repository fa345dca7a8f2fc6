import { describe, expect, test } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import { CqbatchError } from '../../../src/base/errors/errors.ts';
import { checkManifest } from '../../../src/engine/run/plan/check-manifest.ts';
import { refusals } from '../../../src/engine/run/plan/readiness.ts';
import { openRunStore } from '../../../src/engine/run/record/store.ts';
import { rowOptions } from '../../../src/settings/run-options.ts';
import { resolveSettings } from '../../../src/settings/settings.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { manifestFile } from './reading.ts';

/** What a plan says of a manifest: its requests, and everything that is printed to read. */
async function plan(name: string, content: string | Buffer, words: readonly string[] = []) {
  const given: Record<string, string[]> = {};
  for (let index = 0; index < words.length; index += 2) {
    const name = `${words[index]}`.slice(2).replaceAll(/-(.)/g, (_, letter) => letter.toUpperCase());
    given[name] = [...(given[name] ?? []), `${words[index + 1]}`];
  }
  const { operation, trim, skipInvalid, allowEmpty, onConflict, ...others } = given;
  const flags = Object.fromEntries(
    Object.entries(others).map(([key, values]) => [
      key,
      ['map', 'where', 'default'].includes(key) ? values : values[0],
    ]),
  );
  const settings = resolveSettings({
    flags: { ...flags, ...(onConflict && { onConflict: onConflict[0] }) },
    environment: {},
    fields: ['user_id'],
  });
  const path = await manifestFile(name, content);
  try {
    const { scan, problems } = await checkManifest(openRunStore(await temporaryFolder(), operations), {
      path,
      name,
      reading: rowOptions(
        { ...(operation && { operation: `${operation[0]}` }), ...(trim && { trim: true }) },
        settings,
      ),
    });
    const planned = {
      ...{
        manifest: { name },
        scan,
        skipInvalid: skipInvalid !== undefined,
        onConflict: settings.onConflict ?? ('refuse' as const),
      },
      ...{ allowPartial: true, allowEmpty: allowEmpty !== undefined, target: undefined, baseUrl: undefined },
    };
    const refused = refusals(planned).map(({ text }) => text);
    const said = [...refused, ...problems.first, ...scan.warnings.map(({ message }) => message)].join('\n');
    return { isReady: refused.length === 0, said, bodies: scan.preview.map(({ request }) => request.body) };
  } catch (error) {
    if (!(error instanceof CqbatchError)) throw error;
    return { isReady: false, said: error.message, bodies: [] };
  }
}

/** The options that a text tells to pass, as a shell reads them. */
function optionsIn(text: string): readonly (readonly [option: string, value: string])[] {
  const found = text.matchAll(/(--[a-z][a-z-]*)(?: (?:"([^"]*)"|'([^']*)'|([\w=.-]+)))?/g);
  return [...found].map(([, option = '', ...values]) => [
    option,
    values.find((value) => value !== undefined) ?? '',
  ]);
}

type Case = readonly [title: string, name: string, content: string | Buffer, remedies: readonly string[]];

const restore = (id: number, user: string) => `{"evaluation_id":${id},"user_id":"${user}"}`;

describe('a remedy of a plan is typed, and works', () => {
  test.each<Case>([
    [
      'a user for an export that names other people',
      'a.csv',
      'evaluation_id,agent_user_id\n2,a-1\n',
      ['--user-id'],
    ],
    ['a mistyped title', 'a.csv', 'evalution_id,user_id\n2,u1\n', ['--map']],
    [
      'a page of an answer, on one line',
      'a.json',
      `{"entities":[${restore(2, 'u1')}],"total":300,"pageCount":150}`,
      ['--rows-at'],
    ],
    [
      'a page of an answer, on several lines',
      'a.json',
      `{"data":\n{"items":[${restore(2, 'u1')}]},"total":1}`,
      ['--rows-at'],
    ],
    ['rows beside other members', 'a.json', `{"rows":[${restore(2, 'u1')}],\n"took":3}`, ['--rows-at']],
    ['a title line', 'a.csv', 'My export\n\nevaluation_id,user_id\n2,u1\n', ['--skip-lines']],
    ['UTF-16', 'a.csv', Buffer.from('evaluation_id,user_id\n2,u1\n', 'utf16le'), ['--encoding']],
    ['Windows-1252', 'a.csv', Buffer.from('soundboard_id,title\n41,M\xfcnchen\n', 'latin1'), ['--encoding']],
    ['text with blanks', 'a.csv', 'soundboard_id,title\n41, x \n', ['--trim']],
    ['an invalid row', 'a.csv', 'evaluation_id,user_id\n2,u1\nx,u1\n', ['--skip-invalid']],
    ['rows that contradict each other', 'a.csv', 'soundboard_id,title\n41,x\n41,y\n', ['--on-conflict']],
    ['a header alone', 'a.csv', 'evaluation_id,user_id\n', ['--allow-empty']],
  ])('%s', async (_title, name, content, remedies) => {
    const first = await plan(name, content);
    const options = optionsIn(first.said);
    expect(options.map(([option]) => option)).toEqual(expect.arrayContaining([...remedies]));
    const typed = options.find(([option]) => option === remedies[0]);
    const [option = '', value = ''] = typed ?? [];
    const second = await plan(name, content, [option, value]);
    expect(second).toMatchObject({ isReady: true });
    if (option !== '--allow-empty') expect(second.bodies.length).toBeGreaterThan(0);
  });
});

describe('no remedy makes wrong values ready', () => {
  test('people who did something else are not suggested as the user', async () => {
    const { said } = await plan(
      'a.csv',
      'evaluation_id,agent_user_id,deleted_by_user_id,scorer_id\n2,a-1,b,c\n',
    );
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
    expect(said).toMatch(
      /^a\.csv: .* separates the names in the title .*use one delimiter in the whole file, or rename the column$/,
    );
    expect(said).toContain(`a.csv: ${other} separates`);
    expect((await plan('a.csv', content, ['--user-id', 'u'])).isReady).toBe(false);
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
    const page = `{"entities":[${restore(2, 'u1')}],"pageSize":2,"pageNumber":1,"total":300,"nextUri":"/x?pageNumber=2"}`;
    const { said } = await plan('a.json', page);
    expect(said).toBe('a.json: the rows seem to be in "entities"; pass --rows-at entities');
    expect((await plan('a.json', page, ['--rows-at', 'entities'])).said).toBe(
      'the file has 1 row, but its "total" is 300, and its "nextUri" points to more pages: fetch the other pages, too',
    );
  });

  test.each<[title: string, content: string, command: string, array: string]>([
    [
      'arrays',
      `[${restore(2, 'u1')}][\n${restore(4, 'u2')}]`,
      'jq -s add FILE > rows.json',
      `[${restore(2, 'u1')},${restore(4, 'u2')}]`,
    ],
    [
      'pages, one on each line',
      `{"data":[${restore(2, 'u1')}]}\n{"data":[${restore(4, 'u2')}]}\n`,
      'jq -s "[.[].data[]]" FILE > rows.json',
      `[${restore(2, 'u1')},${restore(4, 'u2')}]`,
    ],
  ])('several JSON documents in a file are joined first: %s', async (_title, content, command, joined) => {
    const { said } = await plan('a.json', content);
    expect(said).toContain(`: ${command} (with jq 1.7 or later: before, it rounds long identifiers)`);
    expect(await plan('rows.json', joined)).toMatchObject({
      isReady: true,
      bodies: [restore(2, 'u1'), restore(4, 'u2')],
    });
  });
});
