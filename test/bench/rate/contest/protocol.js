// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { SimulatedApi } from '../simulated-api.js';
import { countIn, emptySeconds, epoch, randomFrom } from '../simulation.js';

/** How long a program may take until its first call, and to end when it is told to. */
const startWithinMs = 30_000;
const endWithinMs = 5_000;

/**
 * Lets a program call a limited API on the loopback interface in real time, and reports each second from its first call on.
 * The program finds the address in `BASE_URL` and the time in `SECONDS`. Every request is a call, whatever its path.
 *
 * @type {import('../world.ts').Play<string>}
 */
export const playProgram = async (world, command) => {
  const api = new SimulatedApi(world, epoch, randomFrom(1));
  const seconds = emptySeconds(world.seconds);
  let begin = Number.NaN;
  /** @type {(value?: unknown) => void} */
  let finish = () => {};
  const finished = new Promise((resolve) => {
    finish = resolve;
  });
  const start = setTimeout(finish, startWithinMs);
  const server = createServer((request, response) => {
    if (Number.isNaN(begin)) {
      begin = performance.now();
      clearTimeout(start);
      setTimeout(finish, 1_000 * world.seconds);
    }
    const now = epoch + performance.now() - begin;
    const { end, outcome, release, status, headers } = api.call(now, 0);
    countIn(seconds, now - epoch, outcome);
    request.resume();
    setTimeout(() => {
      release?.();
      response.writeHead(status, headers).end();
    }, end - now);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const child = spawn(command, {
    shell: true,
    detached: true,
    // What it prints is not part of the table.
    stdio: ['ignore', 2, 2],
    env: { ...process.env, BASE_URL: `http://127.0.0.1:${port}`, SECONDS: String(world.seconds) },
  });
  const ended = once(child, 'close');
  await Promise.race([finished, ended]);
  if (child.exitCode === null) {
    end(child, 'SIGTERM');
    await Promise.race([ended, sleep(endWithinMs, undefined, { ref: false })]);
  }
  end(child, 'SIGKILL');
  clearTimeout(start);
  server.close();
  server.closeAllConnections();
  if (Number.isNaN(begin)) throw new Error(`"${command}" has made no call.`);
  return seconds;
};

/** Ends a program and all that it has started. */
function end(
  /** @type {import('node:child_process').ChildProcess} */ { pid },
  /** @type {NodeJS.Signals} */ signal,
) {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It is gone.
  }
}
