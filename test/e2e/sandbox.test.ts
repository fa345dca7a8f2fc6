import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { checkDocuments } from '../json-documents/check.ts';

const main = 'dist/bin/cqbatch.js';

function sandboxCommand(...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [main, 'sandbox', '--port', '0', ...args], { stdio: 'pipe' });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no standard output');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return line;
}

test('prints its URL and what to type, and exits with 0 on SIGTERM', async () => {
  const child = sandboxCommand('--token', "it's");
  const talk = child.stderr === null ? Promise.resolve('') : text(child.stderr);
  const url = await firstLine(child);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await fetch(`${url}/sandbox/stats`)).status).toBe(200);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(await talk).toContain(`export CQBATCH_BASE_URL=${url} CQBATCH_TOKEN='it'\\''s'`);
});

test('--json prints one document, and SIGINT ends the sandbox even while a request hangs', async () => {
  const child = sandboxCommand('--json', '--fault', 'timeout=100%');
  const line = await firstLine(child);
  checkDocuments(['sandbox', '--json'], `${line}\n`);
  const { url, port, pid, token } = JSON.parse(line);
  expect({ url, pid, token }).toEqual({
    url: `http://127.0.0.1:${port}`,
    pid: child.pid,
    token: 'sandbox-token',
  });
  const hanging = fetch(`${url}/api/v1alpha1/org/soundboard/update`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"soundboard":{"soundboard_id":1}}',
  });
  await expect.poll(() => fetch(`${url}/sandbox/log`).then((log) => log.text())).not.toBe('');
  child.kill('SIGINT');
  const [[code]] = await Promise.all([once(child, 'exit'), expect(hanging).rejects.toThrow('fetch failed')]);
  expect(code).toBe(0);
});
