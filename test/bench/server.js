// @ts-check
/**
 * The API of the benchmarks: restores whatever it is asked to, always with an answer of about 1 KB. Run as a child
 * process, because it must not take time from what is measured more than another process does.
 *
 * Usage: `server.js LATENCY_MS`; it tells its parent `{ port }`, and the arrival times of all requests since when asked.
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
    // As text: the identifier may be larger than a number holds exactly.
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
