// @ts-check
/** Reference of planning: every record of a CSV file through csv-parse and a bare zod check, counted. */
import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse';
import { z } from 'zod';

const row = z.object({ evaluation_id: z.string().regex(/^\d{1,19}$/), user_id: z.string().min(1) });

const records = createReadStream(process.argv[2] ?? '').pipe(parse({ columns: true }));
let valid = 0;
for await (const record of records) if (row.safeParse(record).success) valid += 1;
if (valid !== Number(process.argv[3])) throw new Error(`${valid} rows are valid.`);
