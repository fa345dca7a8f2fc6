import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { type ApiClient, operations, runBatch } from '../../src/index.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

afterEach(() => void vi.restoreAllMocks());

/** When a run starts, the requests of its first 500 rows are compared with those that the plan showed. */
const checkedRows = 500;
const rows = checkedRows + 100;
const place = rows - 50;
const user = `user-${place}`;

/** Counts the texts of JSON that are made of the row or its result, or read into them. A text around their lines is neither. */
function countEncodings() {
  const counts = { row: { encoded: 0, decoded: 0 }, result: { encoded: 0, decoded: 0 } };
  const count = (what: 'encoded' | 'decoded', value: unknown): void => {
    counts.row[what] += timesIn(value, isRow);
    counts.result[what] += timesIn(value, isResult);
  };
  const { parse, stringify } = JSON;
  vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
    const value = parse(text, reviver);
    count('decoded', value);
    return value;
  });
  vi.spyOn(JSON, 'stringify').mockImplementation((value, ...rest) => {
    count('encoded', value);
    return (stringify as (value: unknown, ...rest: unknown[]) => string)(value, ...rest);
  });
  return counts;
}

type Members = Readonly<Record<string, unknown>>;

/** In the file and in a batch, `values` is a list; an object by field is the same row. */
function isRow({ values }: Members): boolean {
  return typeof values === 'object' && values !== null && Object.values(values).includes(user);
}

function isResult({ row, outcome, code }: Members): boolean {
  return row === place && outcome !== undefined && code !== undefined;
}

function timesIn(value: unknown, isWanted: (members: Members) => boolean): number {
  if (typeof value !== 'object' || value === null) return 0;
  const within = Object.values(value).reduce((sum: number, each) => sum + timesIn(each, isWanted), 0);
  return within + Number(isWanted(value as Members));
}

test('between its plan and its report, a row is decoded by its worker and for the report, and its result is encoded once', async () => {
  const folder = await temporaryFolder();
  const manifest = join(folder, 'rows.csv');
  const lines = Array.from({ length: rows }, (_, index) => `${index + 1},user-${index + 1}`);
  await writeFile(manifest, `evaluation_id,user_id\n${lines.join('\n')}\n`);
  const client: ApiClient = {
    baseUrl: 'http://api.test/',
    async send({ body }, { onSent } = {}) {
      onSent?.();
      const [, id] = /"evaluation_id":(\d+)/.exec(body) ?? [];
      const evaluation = { evaluation_id: Number(id), score: 1, state: 'ACTIVE' };
      return { ok: true, status: 200, body: { evaluation }, requests: 1, durationMs: 1 };
    },
    close: async () => {},
  };
  const { CQBATCH_QUEUE: queue, CQBATCH_QUEUE_PREFIX: queue_prefix } = anyDatastore();
  let counts: ReturnType<typeof countEncodings> | undefined;
  const { result, files } = await runBatch({
    manifest,
    operations,
    client,
    stateDir: join(folder, 'state'),
    settings: { rate: 'none', ...(queue && { queue }), ...(queue_prefix && { queue_prefix }) },
    onEvent: ({ type }) => {
      if (type === 'planned') counts = countEncodings();
    },
  });
  expect(result).toBe('succeeded');
  expect(await readFile(files.report, 'utf8')).toContain(`,${user},`);
  expect(counts).toEqual({ row: { encoded: 0, decoded: 2 }, result: { encoded: 1, decoded: 2 } });
});
