import { expect, test } from 'vitest';
import { refusedFiles } from '../../../src/daemon/schedule/refused-files.ts';
import type { HistoryEntry } from '../../../src/daemon/schedule/schedule.ts';

const now = Date.parse('2026-11-29T20:30:00.000Z');
const at = (time: string): string => `2026-11-29T${time}:00.000Z`;

function began(time: string, refused: readonly string[], runs: readonly string[] = []): HistoryEntry {
  return { due: at(time), result: 'began', at: at(time), runs: [...runs], refused: [...refused] };
}

function namesOf(history: readonly HistoryEntry[], seenUntil?: string, later = now): readonly string[] {
  const manifests: Readonly<Record<string, string>> = { 'bad-2': '/data/inbox/bad.csv' };
  return refusedFiles(history, seenUntil, (run) => manifests[run], later).map(({ name }) => name);
}

const idle: HistoryEntry = { due: at('20:20'), result: 'idle' };

test('a refused file stays until a person has seen it, however often the inbox is empty afterwards', () => {
  const history = [began('20:18', ['bad.csv', 'titles.csv']), idle, { ...idle, until: at('20:25') }];
  expect(namesOf(history)).toEqual(['bad.csv', 'titles.csv']);
  expect(namesOf(history, at('20:18'))).toEqual([]);
});

test('a file that is refused after the last look is news, also under the same name', () => {
  const history = [began('20:18', ['bad.csv', 'old.csv']), began('20:24', ['bad.csv'])];
  expect(refusedFiles(history, at('20:18'), () => undefined, now)).toEqual([
    { name: 'bad.csv', at: at('20:24') },
  ]);
});

test('a file leaves once a file of the same name has run', () => {
  const refusal = began('20:18', ['bad.csv', 'titles.csv']);
  expect(namesOf([refusal, began('20:22', [], ['bad-2'])])).toEqual(['titles.csv']);
  // The other way round, the later file is the one that was refused.
  expect(namesOf([began('20:10', [], ['bad-2']), refusal])).toEqual(['bad.csv', 'titles.csv']);
});

test('a refused file is forgotten after a week', () => {
  const day = 24 * 60 * 60 * 1_000;
  const history = [began('20:18', ['bad.csv'])];
  expect(namesOf(history, undefined, now + 6 * day)).toEqual(['bad.csv']);
  expect(namesOf(history, undefined, now + 7 * day)).toEqual([]);
});
