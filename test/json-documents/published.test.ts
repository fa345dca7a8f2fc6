import { describe, expect, test } from 'vitest';
import { overlapRules } from '../../src/daemon/schedule/schedule.ts';
import { conflictRules, outcomes, priorities } from '../../src/domain/terms.ts';
import { runOptionsSchema, runRecordSchema, runStates } from '../../src/engine/run/record/record.ts';
import { nameInWords } from '../../src/settings/settings.ts';
import { everyCommand } from '../cli/help.ts';
import { definitionOf, type JsonSchema, published } from './published.ts';

const names = Object.keys(published.$defs);
const shared = names.filter((name) => /^[A-Z]/.test(name));

/** What the published file has at a place: `Status.properties.priority`. */
function at(place: string): JsonSchema {
  return place.split('.').reduce((value, key) => value[key] as never, published.$defs as JsonSchema);
}

test('the file has a definition for each command with --json, and for no other', async () => {
  const commands = [...(await everyCommand())].filter(([, { options }]) =>
    options.some(({ long }) => long === '--json'),
  );
  const own = names.filter((name) => !shared.includes(name));
  expect(own.toSorted()).toEqual(commands.map(([name]) => definitionOf(name)).toSorted());
});

test('definitions refer to each shared part, and to no others', () => {
  const referred = JSON.stringify(published).matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/g);
  expect([...new Set([...referred].map(([, name]) => name))].toSorted()).toEqual(shared.toSorted());
});

test('no object may have members that the file does not name', () => {
  JSON.stringify(published.$defs, (_key, value) => {
    if (value?.type === 'object' && 'properties' in value)
      expect(value).toMatchObject({ additionalProperties: false });
    return value;
  });
});

describe('the file names what the source has:', () => {
  test.each<[what: string, place: string, words: readonly string[]]>([
    ['states of runs', 'RunState', runStates],
    ['outcomes of a code', 'CodeCounts.items.properties.outcome', outcomes],
    ['priorities', 'Status.properties.priority', priorities],
    ['rules for conflicts', 'Plan.properties.on_conflict', conflictRules],
    ['rules for schedules', 'Schedule.properties.overlap', overlapRules],
  ])('%s', (_what, place, words) => expect(at(place)['enum']).toEqual(words));

  const audit = 'show.anyOf.0.properties';
  const { baseUrl: _, ...options } = runOptionsSchema.shape;
  test.each<[what: string, place: string, members: object]>([
    ['a count for each outcome', 'OutcomeCounts', Object.fromEntries(outcomes.map((name) => [name, 0]))],
    ['options of a run', `${audit}.options`, options],
    ['numbers of its plan', `${audit}.plan`, runRecordSchema.shape.plan.shape],
    ['facts of its canary', `${audit}.canary.anyOf.0`, runRecordSchema.shape.canary.unwrap().shape],
  ])('%s', (_what, place, members) => {
    const named = Object.keys(members).map((name) => nameInWords(name, '_'));
    expect(Object.keys(at(`${place}.properties`)).toSorted()).toEqual(named.toSorted());
  });
});
