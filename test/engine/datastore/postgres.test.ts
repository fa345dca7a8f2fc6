import { expect, test } from 'vitest';
import { migrate } from '../../../src/engine/datastore/embedded/postgres.ts';

/** A database that answers each statement with an error of PostgreSQL, and what was asked of it. */
function failing(code: string) {
  const asked: string[] = [];
  const client = {
    async query(statement: string) {
      asked.push(statement.trim());
      throw Object.assign(new Error(`no: ${code}`), { code });
    },
    release: () => void asked.push('released'),
  };
  return { asked, pool: { connect: async () => client } as never };
}

test.each([
  ['tables that are missing are made', '42P01', /^SELECT COALESCE.*, SELECT current_setting.*, released$/s],
  ['no table is changed in a database that cannot be read', '58030', /^SELECT COALESCE[^;]*, released$/s],
])('%s', async (_, code, statements) => {
  const { asked, pool } = failing(code);
  await expect(migrate(pool)).rejects.toThrow(`no: ${code}`);
  expect(asked.map((statement) => statement.replaceAll(/\s+/g, ' ')).join(', ')).toMatch(statements);
});
