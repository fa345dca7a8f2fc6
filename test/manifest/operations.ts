import { z } from 'zod';
import {
  createRowPreparer,
  type PreparedRow,
  type PreparerOptions,
  type RowPreparer,
} from '../../src/manifest/row-preparer.ts';
import { defineOperation, type Field, type Operation } from '../../src/operation/operation.ts';
import { allRows, openText } from './reading.ts';

const field = (name: string, required: boolean): Field => ({
  name,
  type: 'string',
  required,
  description: '',
});

const digits = z.string().regex(/^\d+$/, 'must be digits');

const closeSchema = z.object({ ticket_id: digits, user_id: z.string({ error: 'missing' }) });

/** An operation whose fields are both required. */
const closeTicket = defineOperation<z.infer<typeof closeSchema>>({
  name: 'close-ticket',
  thing: 'ticket',
  summary: 'Close tickets',
  fields: [field('ticket_id', true), field('user_id', true)],
  schema: closeSchema,
  takesOldValues: false,
  subject: (row) => row.ticket_id,
  request: (row) => ({ path: '/close', body: JSON.stringify(row) }),
  columns: [],
  check: () => ({ ok: true, columns: {} }),
  meansAlreadyApplied: () => false,
});

const renameSchema = z
  .object({ room_id: digits, title: z.string().optional(), floor: z.string().optional() })
  .refine(({ title, floor }) => title !== undefined || floor !== undefined, 'changes nothing');

/** An operation with optional fields. */
const renameRoom = defineOperation<z.infer<typeof renameSchema>>({
  name: 'rename-room',
  thing: 'room',
  summary: 'Rename rooms',
  fields: [field('room_id', true), field('title', false), field('floor', false)],
  schema: renameSchema,
  takesOldValues: true,
  subject: (row) => row.room_id,
  request: (row) => ({ path: '/rename', body: JSON.stringify(row) }),
  columns: [],
  check: () => ({ ok: true, columns: {} }),
  meansAlreadyApplied: () => false,
});

/** Two small operations, so that these tests do not depend on those of `jobs/`. */
export const testOperations = [closeTicket, renameRoom] as readonly Operation[] as readonly [
  Operation,
  Operation,
];

export type Options = Pick<PreparerOptions, 'operation' | 'userId' | 'map'>;

/** Prepares the rows of a manifest called `a` for these operations. */
export async function prepareAll(
  content: string,
  options: Options = {},
): Promise<{ preparer: RowPreparer; rows: PreparedRow[] }> {
  const manifest = await openText('a', content);
  const preparer = createRowPreparer({ manifest, operations: testOperations, ...options });
  return { preparer, rows: (await allRows(manifest)).map(preparer) };
}
