// @ts-check
/**
 * The API of the benchmarks: restores everything, always with an answer of about 1 KB. Run as a child process, so that it takes
 * no more time from the program under measurement than any other process does.
 *
 * Usage: `server.js LATENCY_MS [FOLDER]`; it tells its parent `{ port }`, and on request the arrival times of all requests since the
 * last time. With a folder it speaks TLS, with the `key.pem` and `certificate.pem` there, and closes each connection after some requests,
 * as gateways do; on request it tells how many handshakes it has made since the last time, and how many of them resumed a session.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { restoreAnswer } from './answer.js';

const latencyMs = Number(process.argv[2]);
const [, , , folder] = process.argv;
const requestsOnConnection = 100;

/** @type {number[]} */
let arrivals = [];
let handshakes = { all: 0, resumed: 0 };

const server = folder === undefined ? createServer(react) : tlsServer(folder);

function tlsServer(/** @type {string} */ folder) {
  const read = (/** @type {string} */ name) => readFileSync(join(folder, name));
  const server = createTlsServer({ key: read('key.pem'), cert: read('certificate.pem') }, react);
  server.maxRequestsPerSocket = requestsOnConnection;
  return server.on('secureConnection', (socket) => {
    handshakes.all++;
    if (socket.isSessionReused()) handshakes.resumed++;
  });
}

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
function react(request, response) {
  arrivals.push(performance.now());
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk) => {
    text += chunk;
  });
  request.on('end', () => {
    // As text, because the identifier may exceed the precision of a number.
    const id = /"evaluation_id":\s*"?(\d+)/.exec(text)?.[1];
    if (latencyMs === 0) answer(response, id);
    else setTimeout(answer, latencyMs, response, id);
  });
}

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
process.on('message', (question) => {
  process.send?.(question === 'take handshakes' ? handshakes : arrivals);
  if (question === 'take handshakes') handshakes = { all: 0, resumed: 0 };
  else arrivals = [];
});
process.on('disconnect', () => process.exit());
