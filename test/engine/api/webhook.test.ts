import { createHmac } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openWebhook, signatureHeaders } from '../../../src/engine/api/webhook.ts';
import { deadUrl, httpServer } from './local-server.ts';

/** What a receiver gets that answers with these statuses in turn, and then always with the last one. */
async function receiver(...statuses: number[]) {
  const got: { readonly url: string; readonly body: string }[] = [];
  const server = await httpServer((response, { path: url = '', body }) => {
    got.push({ url, body });
    response.writeHead(statuses[Math.min(got.length, statuses.length) - 1] ?? 200).end();
  });
  return { url: server.url, got };
}

const post = async (url: string, below?: string): Promise<void> => {
  const hook = openWebhook('--notify-url', url, { variables: {} });
  try {
    await hook.post('{"text":"é"}', { withinMs: 60_000, ...(below !== undefined && { below }) });
  } finally {
    await hook.close();
  }
};

test('a text is posted to the exact URL, or below its path', async () => {
  const { url, got } = await receiver(200);
  await post(`${url}/hooks/s3cret?key=a%20b`);
  await post(`${url}/ping/`, '/start');
  await post(url, '/0');
  expect(got.map((request) => request.url)).toEqual(['/hooks/s3cret?key=a%20b', '/ping/start', '/0']);
  expect(got[0]?.body).toBe('{"text":"é"}');
});

test('posting is repeated after transient failures, and not after permanent ones', async () => {
  const shaky = await receiver(503, 429, 204);
  await post(shaky.url);
  expect(shaky.got).toHaveLength(3);
  const wrong = await receiver(404);
  await expect(post(wrong.url)).rejects.toThrow('it answered 404');
  expect(wrong.got).toHaveLength(1);
});

test('a receiver that hangs is given up after the time for all attempts', async () => {
  const hook = openWebhook('--notify-url', (await httpServer(() => {})).url, { variables: {} });
  await expect(hook.post('x', { withinMs: 700 })).rejects.toThrow('no answer within 0.7 s');
  await hook.close();
});

test('a receiver that is busy for ever is given up after the time for all attempts', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const busy = await receiver(503);
  const hook = openWebhook('--notify-url', busy.url, { variables: {} });
  const posting = expect(hook.post('x', { withinMs: 60_000 })).rejects.toThrow('it answered 503');
  await expect.poll(() => busy.got.length).toBe(1);
  vi.advanceTimersByTime(60_000);
  await posting;
  await hook.close();
  // Otherwise it would try four times.
  expect(busy.got.length).toBeLessThan(4);
});

test('an unreachable receiver is reported without the URL', async () => {
  const url = `${await deadUrl()}/s3cret`;
  const { message } = (await post(url).catch((error) => error)) as Error;
  expect(message).toBe('The server refuses connections');
  expect(message).not.toContain('s3cret');
});

test.each([['nonsense s3cret'], ['http://example.com/s3cret'], ['https://user:s3cret@example.com/']])(
  '%s is refused without being quoted',
  (url) => {
    const opening = () => openWebhook('--ping-url', url, { variables: {} });
    expect(opening).toThrow('--ping-url must be an https:// URL');
    expect(opening).not.toThrow('s3cret');
  },
);

test('a signature is that of Standard Webhooks', () => {
  const at = new Date('2026-06-01T12:00:00.900Z');
  const headers = signatureHeaders(`whsec_${Buffer.from('key').toString('base64')}`, 'msg_1', at, '{"a":1}');
  const signature = createHmac('sha256', 'key').update('msg_1.1780315200.{"a":1}').digest('base64');
  expect(headers).toEqual([
    ...['webhook-id', 'msg_1', 'webhook-timestamp', '1780315200', 'webhook-signature'],
    `v1,${signature}`,
  ]);
  expect(signatureHeaders('key', 'msg_1', at, '{"a":1}')).toEqual(headers);
});
