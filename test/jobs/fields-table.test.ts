import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { operations } from '../../jobs/index.ts';

test('docs/operations.md shows the fields of each operation of the service', async () => {
  const rows = operations.flatMap((operation) =>
    operation.fields.map(({ name, type, required, undoable }) => {
      const remark = [required && 'required', undoable && `\`old_${name}\``].filter(Boolean).join(', ');
      return `| \`${operation.name}\` | \`${name}\` | ${type} | ${remark} |`;
    }),
  );
  const page = await readFile('docs/operations.md', 'utf8');
  const [, table] = /^## The service's own\n\n.*\n\|-.*\n((?:\|.*\n)+)/m.exec(page) ?? [];
  expect(table).toBe(`${rows.join('\n')}\n`);
});
