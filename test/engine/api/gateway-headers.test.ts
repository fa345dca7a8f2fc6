import { expect, test } from 'vitest';
import { clientOf, httpServer, restore } from './local-server.ts';

async function answerWith(headers: Readonly<Record<string, string | string[]>>, status = 429) {
  const server = await httpServer((response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end('{"message":"m"}');
  });
  return clientOf(server.url).send(restore, { keepAnswer: true });
}

test('headers that a gateway forwards count like those without its prefix', async () => {
  const answer = await answerWith({
    'Grpc-Metadata-Content-Type': 'application/grpc',
    'Grpc-Metadata-Content-Encoding': 'gzip',
    'Grpc-Metadata-Retry-After': '7',
    'Grpc-Metadata-RateLimit': ['"a";r=0;t=7', '"b";r=5'],
    'Grpc-Metadata-X-Request-Id': 'r-1',
    'Grpc-Metadata-Set-Cookie': 'session=1',
  });
  expect(answer).toMatchObject({
    failure: { class: 'slow-down', message: 'm', waitMs: 7_000 },
    limits: [
      { name: 'a', remaining: 0, resetMs: 7_000 },
      { name: 'b', remaining: 5 },
    ],
    received: { headers: { 'content-type': 'application/json', 'retry-after': '7', 'x-request-id': 'r-1' } },
  });
  expect(answer.received?.headers).not.toHaveProperty('set-cookie');
});
