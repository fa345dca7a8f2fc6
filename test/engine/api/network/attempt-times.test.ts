import net from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { attemptMs, connectMs } from '../../../../src/base/connect-attempt.ts';
import { openWebhook } from '../../../../src/engine/api/webhook.ts';
import { callTo, deadUrl } from '../local-server.ts';

/** How long each attempt of these connections may take, by host. */
async function attemptTimesOf(connecting: () => Promise<unknown>): Promise<unknown[]> {
  const spy = vi.spyOn(net, 'connect');
  onTestFinished(() => spy.mockRestore());
  await connecting().catch(() => {});
  return spy.mock.calls.map(([options]) => {
    const { host, autoSelectFamilyAttemptTimeout } = options as unknown as net.TcpSocketConnectOpts;
    return [host, autoSelectFamilyAttemptTimeout];
  });
}

const timeouts = { connectMs, headersMs: 1_000, bodyMs: 1_000 };

test('an address has a third of the time to connect, which is far more than the 250 ms of Node', () => {
  expect(attemptMs(connectMs)).toBe(1_667);
});

test('the API, its proxy, a webhook and the proxy of a webhook have that time for each address', async () => {
  const url = await deadUrl();
  const proxy = (await deadUrl()).replace('127.0.0.1', 'localhost');
  const proxyVariables = { https_proxy: proxy, http_proxy: proxy };
  const post = (to: string, variables: Record<string, string>) => async () => {
    const hook = openWebhook('--notify-url', to, { variables });
    await hook.post('x', { withinMs: 500 }).finally(() => hook.close());
  };
  const each = [attemptMs(connectMs)];
  const api = await attemptTimesOf(() => callTo(url, { timeouts }));
  const apiByProxy = await attemptTimesOf(() => callTo('https://api.test', { timeouts, proxyVariables }));
  const webhook = await attemptTimesOf(post(url, {}));
  const webhookByProxy = await attemptTimesOf(post('https://hooks.test/', proxyVariables));
  expect(api).toContainEqual(['127.0.0.1', ...each]);
  expect(apiByProxy).toContainEqual(['localhost', ...each]);
  expect(webhookByProxy).toContainEqual(['localhost', ...each]);
  expect(webhook).toContainEqual(['127.0.0.1', ...each]);
});
