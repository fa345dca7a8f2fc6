import { describe, expect, test } from 'vitest';
import { DoneRows } from '../../../../src/engine/manifest/check/call-index.ts';
import { scanManifest } from '../../../../src/engine/manifest/check/scan.ts';
import {
  createRowPreparer,
  type PreparerOptions,
} from '../../../../src/engine/manifest/columns/row-preparer.ts';
import { chosenBy } from '../../../../src/engine/manifest/columns/where.ts';
import { testOperations } from '../operations.ts';
import { openText } from '../reading.ts';

const csv = 'ticket_id,user_id,at\n1,u,2026-11-16\n2,,soon\n3,v,2026-11-17\n';

type Effects = Pick<PreparerOptions, 'defaults' | 'map'> & { where?: string[]; done?: DoneRows };

async function warningsOf(content: string, { where, done, ...options }: Effects): Promise<readonly string[]> {
  const whole = await openText('a', content);
  const manifest = where === undefined ? whole : chosenBy(where, whole);
  const operation = 'close-ticket';
  const prepare = createRowPreparer({ manifest, operations: testOperations, operation, ...options });
  const { warnings } = await scanManifest(manifest, prepare, {}, { done });
  return warnings.map(({ code, message }) => `${code}: ${message}`);
}

/** A run that has done these tickets. */
function doneTickets(...subjects: readonly string[]): DoneRows {
  const done = new DoneRows();
  done.begin('monday');
  for (const subject of subjects)
    done.note({ operation: 'close-ticket', subject }, 1, { outcome: 'succeeded', code: 'OK' });
  return done;
}

describe('an option without effect says so', () => {
  test('and one that applies to some rows says to which', async () => {
    expect(await warningsOf(csv, { defaults: { user_id: 'w' } })).toEqual([
      'DEFAULT_OVERRIDDEN: 2 rows keep their own user_id (first: row 1, line 2); --default user_id=w applies to the other 1 row',
    ]);
    expect(await warningsOf(csv, { where: ['at>=2026-11-17'], defaults: {} })).toEqual([
      'CELLS_INCOMPARABLE: at: 1 cell is no time that begins with the year (first: row 2, line 3, "soon"), so ' +
        '--where "at>=2026-11-17" leaves its row out',
    ]);
  });

  test('and one with an effect says nothing', async () => {
    const options = { where: ['user_id!='], done: doneTickets('3') };
    expect(await warningsOf('ticket_id,user_id\n1,u\n2,\n3,v\n', options)).toEqual([]);
    expect(await warningsOf('ticket_id\n1\n2\n', { defaults: { user_id: 'w' } })).toEqual([]);
  });
});
