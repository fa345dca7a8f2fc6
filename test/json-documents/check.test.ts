import { describe, expect, test } from 'vitest';
import { checkDocuments } from './check.ts';

const pruned = { removed: ['a'], kept: 3, bytes: 10, dry_run: false };
const asLine = (document: object): string => `${JSON.stringify(document)}\n`;

describe('what a command prints is refused', () => {
  test.each([
    ['with a member that no schema names', { ...pruned, other: 1 }, 'Unrecognized key: "other"'],
    ['without a member', { removed: [], kept: 3, bytes: 10 }, 'dry_run'],
    ['with a value of another kind', { ...pruned, kept: '3' }, '"3"'],
    ['as the document of another command', { written: [], kept: [] }, 'not the runs that were removed'],
  ])('%s', (_title, document, message) => {
    expect(() => checkDocuments(['prune', '--json'], asLine(document))).toThrow(message);
  });

  test('with a member that no schema names, deep inside what run.json has, too', () => {
    const event = { state: 'running', at: '2026-11-25T02:00:00.000Z', because: 'stuck' };
    expect(() => checkDocuments(['status', '--json'], asLine({ run: 'r', states: [event] }))).toThrow(
      'because',
    );
  });

  test('on any line, also of a command of a group', () => {
    const removed = asLine({ schedule: 'nightly', removed: true, run_in_progress: null });
    const args = ['--json', 'schedule', 'remove', 'nightly'];
    expect(() => checkDocuments(args, removed)).not.toThrow();
    expect(() => checkDocuments(args, removed + asLine({}))).toThrow(
      'cqbatch --json schedule remove nightly',
    );
  });
});
