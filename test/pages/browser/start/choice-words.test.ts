import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { refusals } from '../../../../src/engine/run/plan/readiness.ts';
import { inChoiceWords } from '../../../../src/pages/browser/start/choice-words.ts';
import { writePlan } from '../../../engine/run/plan/written-plan.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

test.each([
  ['rows are invalid', 'evaluation_id,user_id\n1,u\nx,u\n', /fix it or leave invalid rows out below\.$/],
  [
    'rows change one entry in different ways',
    'soundboard_id,title,description,tags\n1,A,D,t\n1,B,D,t\n',
    /Remove the wrong rows, or choose below whether only the last row of each entry is called, or all are in their order\.$/,
  ],
  [
    'rows leave fields out',
    'soundboard_id,title\n1,A\n',
    /give all fields, choose below to compare, or to send the rows as they are\.$/,
  ],
])('a refusal because %s names the choice on the page, and no option', async (_why, text, expected) => {
  const folder = await temporaryFolder();
  const manifest = join(folder, 'rows.csv');
  await writeFile(manifest, text);
  const { planned } = await writePlan(join(folder, 'rows.cqplan'), manifest);
  const api = { baseUrl: undefined, isNewTarget: undefined };
  const [refusal] = refusals({ ...planned, ...api, onConflict: 'refuse' });
  const words = inChoiceWords(refusal?.text ?? '');
  expect(words).toMatch(expected);
  expect(words).not.toContain('--');
});
