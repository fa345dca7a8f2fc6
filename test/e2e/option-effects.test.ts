import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toldOptions } from '../cli/told-options.ts';
import { cqbatch } from '../helpers/cqbatch.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const rows = 'evaluation_id,user_id\n2,u\n';
const files = {
  'rows.csv': rows,
  'marked.csv': `\ufeff${rows}`,
  'report.csv':
    '_row,_operation,_subject,_outcome,_code,evaluation_id\n1,restore-evaluation,7,succeeded,OK,7\n',
  'rows.json': '{"operation":"restore-evaluation","rows":[{"evaluation_id":2,"user_id":"u"}]}',
};

test.each(Object.entries(toldOptions))('%s says that it has no effect', async (_name, [words, said]) => {
  const cwd = await temporaryFolder();
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
  const env = { CQBATCH_BASE_URL: 'http://127.0.0.1:1', CQBATCH_TOKEN: 't' };
  const { stdout, stderr } = await cqbatch(words, { cwd, env });
  expect(stdout + stderr).toContain(said);
});
