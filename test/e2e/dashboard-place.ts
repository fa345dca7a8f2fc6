import { once } from 'node:events';
import { rename } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Choices, Draft } from '../../src/pages/server/start/draft.ts';
import { selfSigned } from '../engine/api/self-signed.ts';
import { freePort } from '../helpers/free-port.ts';
import { type Home, newHome } from './home.ts';
import { eventually, kindSandbox } from './redis/machine.ts';

/** A machine with a manifest, and an API that takes a tenth of a second for each row. */
export async function newPlace(rows: number, more: Readonly<Record<string, string>> = {}, name = 'rows.csv') {
  const home = await newHome(rows, [...kindSandbox, '--latency', '100ms'], more);
  if (name !== 'rows.csv') await rename(join(home.cwd, 'rows.csv'), join(home.cwd, name));
  return {
    ...home,
    /** Starts the run `r`. */
    going: (...flags: string[]) =>
      home.start('run', name, '--yes', '--run-id', 'r', '--concurrency', '4', ...flags),
    /** Ends the patience of a run that was started with a low rate, which leaves a slow machine time to look. */
    hurry: () => {
      home.sandbox.configure({ latency: '0ms' });
      return home.run('set-rate', 'r', 'none');
    },
  };
}

export interface Address {
  readonly url: string;
  readonly control_url: string | null;
  readonly port: number;
}

/** The dashboard that a command serves. */
export async function dashboardOf(place: Pick<Home, 'start'>, ...flags: string[]) {
  // A later dashboard may get this port, which no other process takes meanwhile.
  const port = String(await freePort());
  const served = place.start('dashboard', '--port', port, '--json', ...flags);
  await eventually(() => served.stdout.endsWith('\n'));
  return { served, ...(JSON.parse(served.stdout) as Address) };
}

/** A dashboard that starts runs, and what a page in control of it asks for. A path that begins with `runs/` is about a run, for example. */
export async function startingDashboardOf(place: Pick<Home, 'start'>, ...flags: string[]) {
  const address = await dashboardOf(place, '--control', '--start', ...flags);
  const { url, control_url } = address;
  const entered = await fetch(control_url ?? '', { redirect: 'manual' });
  const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const request = async (path: string, body?: object | string) => {
    const isFile = typeof body === 'string';
    const answer = await fetch(`${url}/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        cookie,
        ...(body !== undefined && { origin: url }),
        ...(body !== undefined && {
          'content-type': isFile ? 'application/octet-stream' : 'application/json',
        }),
      },
      ...(body !== undefined && { body: isFile ? body : JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  /** The answer of a request that the dashboard accepts. */
  const ask = async <Answer = Draft>(path: string, body?: object | string): Promise<Answer> => {
    const { status, text } = await request(path, body);
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
    return JSON.parse(text) as Answer;
  };
  return {
    ...address,
    request,
    ask,
    upload: (name: string, text: string) => ask(`drafts?name=${encodeURIComponent(name)}`, text),
    plan: ({ id }: Draft, choices: Choices = {}) => ask(`drafts/${id}/plan`, choices),
    start: ({ id, planned }: Draft, more: object = {}) =>
      ask(`drafts/${id}/start`, {
        confirm: planned?.callable,
        sha256: planned?.plan_sha256,
        ten_first: false,
        ...more,
      }),
  };
}

/** A proxy with TLS that serves a dashboard under a path, and passes the host on. */
export async function proxyWithTls(path: string) {
  let port = 0;
  const proxy = createServer(selfSigned, (incoming, answer) => {
    const { method, headers, url = '' } = incoming;
    const outgoing = request({ host: '127.0.0.1', port, method, headers, path: url.slice(path.length) });
    outgoing.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 0, response.headers).flushHeaders();
      response.pipe(answer);
    });
    outgoing.on('error', () => answer.destroy());
    answer.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return {
    url: `https://localhost:${(proxy.address() as AddressInfo).port}${path}/`,
    leadTo(upstream: number): void {
      port = upstream;
    },
  };
}
