import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { listing } from './listing.ts';

const text = 'x'.repeat(100_000);

/** Sends 1,000 parts, as fast as they are read. @returns how many bytes were taken */
async function sendMuch(
  response: ServerResponse,
  part: (at: number) => string,
  end: string,
): Promise<number> {
  let bytes = 0;
  for (let at = 0; at < 1_000 && !response.destroyed; at++) {
    bytes += part(at).length;
    if (!response.write(part(at))) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
  response.end(end);
  return bytes;
}

test('a page of 100 MB is given a few entries at a time', async () => {
  const { reader } = await listing((response) => {
    response.writeHead(200).write('{"old_calls":[{"call_id":1000}');
    void sendMuch(response, (at) => `,{"call_id":${at},"note":"${text}"}`, ']}');
  });
  let most = 0;
  for await (const entries of reader.entries()) most = Math.max(most, entries.length);
  expect(reader).toMatchObject({ listed: 1_001, repeats: 0, pages: 1 });
  expect(most).toBeLessThan(50);
});

test('100 MB around the entries are refused before they fill the memory', async () => {
  const taken: Promise<number>[] = [];
  const { read } = await listing(
    (response) => {
      response.writeHead(200).write('{"note":"');
      taken.push(sendMuch(response, () => text, '"}'));
    },
    { attempts: 2 },
  );
  await expect(read()).rejects.toMatchObject({
    code: 'LIST_UNREADABLE',
    message: expect.stringContaining('it has more than 1,048,576 characters around its entries'),
  });
  // Both attempts were broken off.
  for (const bytes of await Promise.all(taken)) expect(bytes).toBeLessThan(50_000_000);
  expect(taken).toHaveLength(2);
});
