import { describe, expect, test } from 'vitest';
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

test('cells that have no order with the value are counted where only they decide, with the first one', async () => {
  const csv = 'id,by,at\n1,a,16/11/2026\n2,b,yesterday\n3,a,\n4,a,2026-11-17\n5,a,soon\n';
  const manifest = chosenBy(['by=a', 'at>=2026-11-16'], await openText('a', csv));
  expect((await allRows(manifest)).map(({ cells }) => cells['id'])).toEqual(['4']);
  expect(manifest.choice?.()).toMatchObject({
    chosen: 1,
    leftOut: 4,
    undecided: 2,
    incomparable: [
      'at: 2 cells are no time that begins with the year (first: line 2, "16/11/2026"), so --where "at>=2026-11-16" leaves their rows out',
    ],
  });
});
