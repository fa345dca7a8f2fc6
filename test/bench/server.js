// @ts-check
/**
 * The API of the benchmarks: restores everything, always with an answer of about 1 KB. Run as a child process, so that it takes
 * no more time from the program under measurement than any other process does.
 *
 * Usage: `server.js LATENCY_MS`; it tells its parent `{ port }`, and on request the arrival times of all requests since the
 * last time.
 */
import { createServer } from 'node:http';
import { restoreAnswer } from './answer.js';

const latencyMs = Number(process.argv[2]);

/** @type {number[]} */
let arrivals = [];

const server = createServer((request, response) => {
  arrivals.push(performance.now());
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk) => {
    text += chunk;
  });
  request.on('end', () => {
    // As text, because the identifier may exceed the precision of a number.
    const id = /"evaluation_id":\s*(\d+)/.exec(text)?.[1];
    if (latencyMs === 0) answer(response, id);
    else setTimeout(answer, latencyMs, response, id);
  });
});

/**
 * @param {import('node:http').ServerResponse} response
 * @param {string | undefined} id
 */
function answer(response, id) {
  const body = id === undefined ? '{"code":3,"message":"evaluation_id is missing"}' : restoreAnswer(id);
  response.writeHead(id === undefined ? 400 : 200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.send?.({ port: address.port });
});
process.on('message', () => {
  process.send?.(arrivals);
  arrivals = [];
});
process.on('disconnect', () => process.exit());
