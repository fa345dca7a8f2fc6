import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { generateEvaluation } from '../../../src/sandbox/model/generate.ts';
import { completeState, readStateFile } from '../../../src/sandbox/state/state-document.ts';

async function stateFile(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-state-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'state.json');
  await writeFile(path, text);
  return path;
}

test('a file gives identifiers exactly, as numbers and as strings', async () => {
  const path = await stateFile(
    '{"evaluations":[{"evaluation_id":9223372036854775807},{"evaluation_id":"9007199254740993"}]}',
  );
  const { evaluations } = await readStateFile(path, 1);
  expect(evaluations.get('9223372036854775807')).toEqual(generateEvaluation(1, 9223372036854775807n));
  expect(evaluations.get('9007199254740993')?.evaluation_id).toBe(9007199254740993n);
});

test('given fields win, null removes, unknown fields stay', () => {
  const { evaluations, soundboards } = completeState(
    {
      evaluations: [{ evaluation_id: 7, deleted_at: null, score: 12.5, mood: 'sunny' }],
      soundboards: [{ soundboard_id: 8, title: '', description: null }],
    },
    1,
    'state',
  );
  expect(evaluations.get('7')).toMatchObject({ score: 12.5, mood: 'sunny', is_recoverable: true });
  expect(evaluations.get('7')).not.toHaveProperty('deleted_at');
  expect(soundboards.get('8')).toMatchObject({ title: '', file_name: 'recording-8.wav' });
  expect(soundboards.get('8')).not.toHaveProperty('description');
});

test.each([
  ['[]', 'the document: '],
  ['{"evaluation":[]}', 'evaluation'],
  ['{"evaluations":{}}', 'evaluations: '],
  ['{"evaluations":[5]}', 'evaluations.0: '],
  [
    '{"evaluations":[{}]}',
    'evaluations.0.evaluation_id: an identifier is an integer from 1 to 9223372036854775807',
  ],
  [
    '{"evaluations":[{"evaluation_id":9223372036854775808}]}',
    'evaluations.0.evaluation_id: an identifier is',
  ],
  ['{"evaluations":[{"evaluation_id":1,"deleted_at":5}]}', 'evaluations.0.deleted_at: '],
  ['{"soundboards":[{"soundboard_id":0}]}', 'soundboards.0.soundboard_id: an identifier is'],
  ['{"soundboards":[{"soundboard_id":1},{"soundboard_id":"1"}]}', 'soundboard_id 1 is given twice'],
  ['{', 'position'],
])('%s is refused: %s', async (text, message) => {
  const path = await stateFile(text);
  await expect(readStateFile(path, 1)).rejects.toMatchObject({
    kind: 'usage',
    code: 'INVALID_STATE',
    message: expect.stringContaining(message),
  });
});

test('a file that is not there is a usage error with its name', async () => {
  await expect(readStateFile('nowhere.json', 1)).rejects.toMatchObject({
    code: 'INVALID_STATE',
    message: expect.stringMatching(/^nowhere\.json: ENOENT/),
  });
});
