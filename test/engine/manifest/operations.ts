import {
  createRowPreparer,
  type PreparedRow,
  type PreparerOptions,
  type RowPreparer,
} from '../../../src/engine/manifest/columns/row-preparer.ts';
import { defineOperation, type Operation } from '../../../src/engine/operation/operation.ts';
import { allRows, openText } from './reading.ts';

const anyAnswer = {
  interpret: () => ({ ok: true as const, value: undefined }),
  columns: {},
  repeatable: true,
};

/** An operation whose fields are both required. */
const closeTicket = defineOperation({
  name: 'close-ticket',
  thing: 'ticket',
  summary: 'Close tickets',
  fields: {
    ticket_id: { type: 'integer', required: true },
    user_id: { type: 'identifier', required: true },
  },
  subject: 'ticket_id',
  request: (row) => ({ path: '/close', body: JSON.stringify(row) }),
  ...anyAnswer,
});

/** An operation with optional fields, which the API may reset. */
const renameRoom = defineOperation({
  name: 'rename-room',
  thing: 'room',
  summary: 'Rename rooms',
  fields: {
    room_id: { type: 'integer', required: true },
    title: { type: 'text', undoable: true },
    floor: { type: 'text', undoable: true },
  },
  subject: 'room_id',
  mayReset: true,
  check: ({ title, floor }) => (title === undefined && floor === undefined ? 'changes nothing' : undefined),
  request: (row) => ({ path: '/rename', body: JSON.stringify(row) }),
  ...anyAnswer,
});

/** Two small operations, so that these tests do not depend on those of `jobs/`. */
export const testOperations: readonly [Operation, Operation] = [closeTicket, renameRoom];

export type Options = Pick<PreparerOptions, 'operation' | 'defaults' | 'map'>;

/** Prepares the rows of a manifest called `a` for these operations. */
export async function prepareAll(
  content: string,
  options: Options = {},
): Promise<{ preparer: RowPreparer; rows: PreparedRow[] }> {
  const manifest = await openText('a', content);
  const preparer = createRowPreparer({ manifest, operations: testOperations, ...options });
  return { preparer, rows: (await allRows(manifest)).map(preparer) };
}
