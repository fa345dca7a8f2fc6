import { describe, expect, test } from 'vitest';
import { shellWord } from '../../../../src/base/text/command-words.ts';
import { chosenBy, ownColumnsIn } from '../../../../src/engine/manifest/columns/where.ts';
import { allRows, openText } from '../reading.ts';

describe('the rows of a manifest', () => {
  const csv =
    'ID,Deleted by,when\n1,u-17,2026-11-16\n2,u-18,2026-11-16\n3,u-17,2026-11-15\n4,u-17,2026-11-17\nbroken\n';
  const choose = async (content: string, ...conditions: string[]) =>
    chosenBy(conditions, await openText('a', content));

  test('are those for which all conditions hold, with their numbers, and those that cannot be read', async () => {
    const manifest = await choose(csv, 'deleted_by=u-17', 'when>=2026-11-16');
    const rows = await allRows(manifest);
    expect(rows.map(({ row, line, cells }) => `${row} ${line} ${cells['ID']}`)).toEqual([
      '1 2 1',
      '4 5 4',
      '5 6 broken',
    ]);
    expect(manifest.choice?.().leftOut).toBe(2);
    await allRows(manifest);
    expect(manifest.choice?.().leftOut).toBe(2);
  });

  test('may be values of JSON; a row without the key counts as empty', async () => {
    const json =
      '[{"id":1,"n":5},{"id":2,"n":null},{"id":3},{"id":4,"n":9223372036854775807},{"id":5,"n":true}]';
    const idsOf = async (...conditions: string[]) =>
      (await allRows(await choose(json, ...conditions))).map(({ cells }) => String(cells['id']));
    expect(await idsOf('n>=5')).toEqual(['1', '4']);
    expect(await idsOf('n=')).toEqual(['2', '3']);
    expect(await idsOf('n=true')).toEqual(['5']);
  });

  test.each([
    ['CSV, before a row is read', csv],
    ['JSON, when all rows were read', '[{"ID":"1"},{"Deleted by":"x"},{"when":"y"}]'],
  ])('are refused when no column has the title: %s', async (_title, content) => {
    await expect(choose(content, 'ID=1', 'deletd_by=x').then(allRows)).rejects.toMatchObject({
      kind: 'usage',
      code: 'WHERE_UNKNOWN_COLUMN',
      message: '--where "deletd_by=x": a has no column "deletd_by"; it has "ID", "Deleted by", "when"',
    });
  });

  test('may be chosen by columns of reports, which the rows then do not have', async () => {
    const report = 'ID,_code,_outcome\n1,OK,succeeded\n2,NOT_FOUND,failed\n';
    const conditions = ['_code=NOT_FOUND'];
    const keptColumns = ownColumnsIn(conditions);
    const manifest = chosenBy(conditions, await openText('a', report, { keptColumns }));
    expect(manifest.columns()).toEqual(['ID']);
    expect((await allRows(manifest)).map(({ cells }) => cells)).toEqual([{ ID: '2' }]);
  });
});

describe('a choice of no row says why', () => {
  const why = async (csv: string, ...conditions: string[]) => {
    const manifest = chosenBy(conditions, await openText('a', csv));
    expect(await allRows(manifest)).toEqual([]);
    return manifest.choice?.().whyNothing();
  };
  const csv = 'id,deleted_by,at\n1,u-17,2026-11-23T10:00Z\n2,u-3,\n3,u-17,2026-11-23\n4,,2026-11-24\n';

  test('with the most common values of the column, and the value that differs only in its case', async () => {
    expect(await why(csv, 'deleted_by=U-17')).toBe(
      'No row meets --where "deleted_by=U-17": deleted_by has u-17 (2), u-3 (1), empty cells (1). ' +
        'Do you mean --where "deleted_by=u-17"?',
    );
  });

  test('with the day that a date stands for', async () => {
    expect(await why('id,at\n1,2026-12-31T10:00Z\n', 'at=2026-12-31')).toContain(
      'A date is its first moment; the whole day is --where "at>=2026-12-31" --where "at<2027-01-01".',
    );
  });

  test('with the condition that fails, or with how many rows meet each', async () => {
    const unmet = await why(csv, 'deleted_by=u-17', 'at>=2027-01-01');
    expect(unmet).toMatch(/^No row meets --where "at>=2027-01-01": at has /);
    expect(await why(csv, 'deleted_by=u-3', 'at>=2026-11-23')).toBe(
      'No row meets all conditions, although each holds for some rows: --where "deleted_by=u-3" for 1 row, ' +
        '--where "at>=2026-11-23" for 3 rows.',
    );
  });
});

describe('cells that no operator can compare with a number or a time', () => {
  const csv = 'id,by,at\n1,a,16/11/2026\n2,b,yesterday\n3,a,\n4,a,2026-11-17\n5,a,soon\n6,a,2026-11-16\n';
  const chosen = async (...conditions: string[]) => {
    const manifest = chosenBy(conditions, await openText('a', csv));
    const ids = (await allRows(manifest)).map(({ cells }) => cells['id']);
    return { ids, choice: manifest.choice?.() };
  };

  test.each([
    ['at=2026-11-16', ['6']],
    ['at!=2026-11-16', ['4']],
    ['at<2026-11-17', ['6']],
    ['at<=2026-11-16', ['6']],
    ['at>2026-11-16', ['4']],
    ['at>=2026-11-16', ['4', '6']],
  ])('are left out and counted where only they decide, with the first one: %s', async (condition, ids) => {
    const { choice, ids: found } = await chosen('by=a', condition);
    expect(found).toEqual(ids);
    expect(choice).toMatchObject({
      chosen: ids.length,
      leftOut: 6 - ids.length,
      undecided: 2,
      incomparable: [
        `at: 3 cells are no time that begins with the year (first: row 1, line 2, "16/11/2026"; 1 is empty), so --where ${shellWord(condition)} leaves their rows out`,
      ],
    });
  });

  test('are empty ones, too', async () => {
    const { ids, choice } = await chosen('at!=2026-11-16', 'id=3');
    expect(ids).toEqual([]);
    expect(choice).toMatchObject({
      undecided: 0,
      incomparable: [
        "at: 1 cell is empty (first: row 3, line 4), so --where 'at!=2026-11-16' leaves its row out",
      ],
    });
  });

  test('are those of no text: a text compares with every cell', async () => {
    for (const condition of ['at!=yesterday', 'at=', 'at!=', 'at~2026']) {
      const { choice } = await chosen(condition);
      expect(choice?.incomparable).toEqual([]);
    }
    expect((await chosen('at!=yesterday')).ids).toEqual(['1', '3', '4', '5', '6']);
  });
});

test.each(['NFC', 'NFD'])('texts compare however their accents are encoded: %s', async (form) => {
  const cells = ['Jose\u0301', 'Jos\u00e9', 'Jose'].map((name, index) => `${index},${name}`).join('\n');
  const idsOf = async (condition: string) => {
    const manifest = chosenBy([condition.normalize(form)], await openText('a', `id,agent\n${cells}\n`));
    return (await allRows(manifest)).map(({ cells }) => cells['id']);
  };
  expect(await idsOf('agent=José')).toEqual(['0', '1']);
  expect(await idsOf('agent!=José')).toEqual(['2']);
  expect(await idsOf('agent~sé')).toEqual(['0', '1']);
});
