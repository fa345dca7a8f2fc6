// @ts-check
/**
 * The API of very long benchmarks: only what is needed to get from one row to the next. It reads only where an HTTP request
 * ends, and answers with only the identifier. Run as a child process, it tells its parent `{ port }`.
 */
import { createServer } from 'node:net';

const server = createServer((socket) => {
  let received = '';
  socket.setNoDelay(true);
  socket.setEncoding('latin1');
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    received += chunk;
    for (;;) {
      const body = received.indexOf('\r\n\r\n') + 4;
      if (body < 4) return;
      const length = Number(/^content-length: *(\d+)/im.exec(received)?.[1] ?? 0);
      if (received.length < body + length) return;
      socket.write(answerTo(received.slice(body, body + length)));
      received = received.slice(body + length);
    }
  });
});

function answerTo(/** @type {string} */ request) {
  // As text, because the identifier may exceed the precision of a number.
  const id = /"evaluation_id":\s*"?(\d+)/.exec(request)?.[1];
  const status = id === undefined ? '400 Bad Request' : '200 OK';
  const body = id === undefined ? '{}' : `{"evaluation":{"evaluation_id":${id}}}`;
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.send?.({ port: address.port });
});
process.on('disconnect', () => process.exit());
