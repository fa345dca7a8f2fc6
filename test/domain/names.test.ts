import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { operations } from '../../jobs/index.ts';
import { type Schedule, scheduleSchema } from '../../src/daemon/schedule/schedule.ts';
import { openScheduleStore } from '../../src/daemon/schedule/store.ts';
import { nameSchema } from '../../src/domain/name-schema.ts';
import { fileNames, type NameRule, rateGroupNames, runIds, scheduleNames } from '../../src/domain/names.ts';
import { runEntrySchema } from '../../src/engine/cluster/entries.ts';
import { createRun } from '../../src/engine/run/plan/create-run.ts';
import { runOptionsSchema } from '../../src/engine/run/record/record.ts';
import { openRunStore } from '../../src/engine/run/record/store.ts';
import { parseRateGroup } from '../../src/settings/parsers.ts';
import { leastOptions, manifestAt } from '../engine/run/planned-record.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** Texts that lead out of a folder, or are no name on some system. */
const paths = ['', '.', '..', '../evil', '../../evil', '/etc/evil', 'a/b', 'a\\b', 'a\0b', '.hidden', 'a\nb'];

const rules: Readonly<
  Record<string, readonly [rule: NameRule, names: readonly string[], others: readonly string[]]>
> = {
  'a run': [
    runIds,
    ['a', 'console', 'nul-1', 'com', 'com10', 'week-47', 'x'.repeat(63)],
    [...paths, 'a b', 'AAAA', 'con', 'nul', 'aux', 'prn', 'com1', 'lpt9', '-a', '_a', 'é', 'x'.repeat(64)],
  ],
  'a schedule': [
    scheduleNames,
    ['a', 'nightly', 'x'.repeat(40)],
    [...paths, 'a b', 'Nightly', 'con', 'lpt1', '-a', 'x'.repeat(41)],
  ],
  'a rate group': [
    rateGroupNames,
    ['acme', 'Acme-2', 'a.b_c', '-', '_', '7', 'x'.repeat(64)],
    [...paths, 'a b', 'é', 'a:b', 'x'.repeat(65)],
  ],
  'a file': [
    fileNames,
    ['manifest.csv', 'week 47.3f2a1b9c.csv', 'a 🎧.csv', '..a', '.hidden'],
    paths.filter((each) => each !== '.hidden' && each !== 'a\nb'),
  ],
};

describe.each(Object.entries(rules))('%s', (_what, [rule, names, others]) => {
  test.each(names)('may be called %j', (name) => {
    expect(rule.has(name)).toBe(true);
    expect(rule.require(name)).toBe(name);
    expect(nameSchema(rule).parse(name)).toBe(name);
  });

  test.each(others)('may not be called %j', (name) => {
    expect(rule.has(name)).toBe(false);
    expect(() => rule.require(name)).toThrow(rule.remedy);
    expect(nameSchema(rule).safeParse(name).success).toBe(false);
  });
});

describe('a name that leads out of its folder is refused', () => {
  const invalid = { code: 'INVALID_SETTING', kind: 'usage' };

  test.each([...paths, 'a b'])('as the id of a new run, by the engine: %j', async (runId) => {
    const folder = await temporaryFolder();
    const source = join(folder, 'rows.csv');
    await writeFile(source, 'evaluation_id,user_id\n1,u\n');
    const store = openRunStore(join(folder, 'a', 'b', 'state'), operations);
    const creating = createRun(store, { rows: manifestAt(source), options: leastOptions, runId });
    await expect(creating).rejects.toMatchObject(invalid);
    await expect(store.look(runId)).rejects.toMatchObject(invalid);
    const left = await readdir(folder, { recursive: true });
    expect(left.filter((path) => /run\.json|journal|manifest|rows\.jsonl/.test(path))).toEqual([]);
  });

  test.each(paths)('as a schedule, and as a rate group, typed, in files and in Redis: %j', async (name) => {
    const schedules = openScheduleStore(await temporaryFolder());
    expect(() => schedules.folder(name)).toThrow("can't be the name of a schedule");
    await expect(schedules.add({ name } as Schedule)).rejects.toMatchObject(invalid);
    expect(() => parseRateGroup(name)).toThrow(/^write 1 to 64 letters/);
    const { rateGroup, id } = runEntrySchema.shape;
    const schemas = [scheduleSchema.shape.name, runOptionsSchema.shape.rateGroup, rateGroup, id];
    expect(schemas.map((schema) => schema.safeParse(name).success)).toEqual([false, false, false, false]);
  });
});
