// @ts-check
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { cqbatch, startCommand, startScript } from './child.js';

/**
 * The plain local server, in a separate process.
 *
 * @typedef {object} LocalApi
 * @property {string} url
 * @property {() => Promise<readonly number[]>} takeArrivals when each request since the last time arrived, in milliseconds of
 *   the server's own clock
 * @property {() => Promise<{ all: number, resumed: number }>} takeHandshakes of TLS since the last time
 * @property {string} [authority] file with the certificate that a client must trust
 */

/**
 * @template Result
 * @param {number} latencyMs how long each answer takes
 * @param {(api: LocalApi) => Promise<Result>} use
 * @returns {Promise<Result>}
 */
export function withLocalApi(latencyMs, use) {
  return withServer(new URL('../server.js', import.meta.url), [String(latencyMs)], use);
}

/**
 * The same over TLS, with a certificate of an authority of its own.
 *
 * @template Result
 * @param {number} latencyMs
 * @param {string} folder for keys and certificates
 * @param {(api: LocalApi) => Promise<Result>} use
 * @returns {Promise<Result>}
 */
export function withTlsApi(latencyMs, folder, use) {
  const certificate = makeCertificate(folder);
  return withServer(new URL('../server.js', import.meta.url), [String(latencyMs), folder], (api) =>
    use({ ...api, url: api.url.replace(/^http:/, 'https:'), authority: certificate }),
  );
}

/** @returns {string} the file with the certificate of the authority */
function makeCertificate(/** @type {string} */ folder) {
  const authority = ['-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const subject = ['-days', '2', '-subj', '/CN=benchmark', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'certificate.pem')];
  execFileSync('openssl', ['req', ...authority, ...subject, ...files], { stdio: 'ignore' });
  return join(folder, 'certificate.pem');
}

/**
 * The cheapest possible server: it answers at once, in few bytes, and keeps no arrivals.
 *
 * @template Result
 * @param {(api: Pick<LocalApi, 'url'>) => Promise<Result>} use
 * @returns {Promise<Result>}
 */
export function withLeanApi(use) {
  return withServer(new URL('../lean-server.js', import.meta.url), [], use);
}

/**
 * The test service, which has lists.
 *
 * @template Result
 * @param {readonly string[]} options of `cqbatch sandbox`
 * @param {(sandbox: { url: string, token: string }) => Promise<Result>} use
 * @returns {Promise<Result>}
 */
export async function withSandbox(options, use) {
  const server = startCommand(process.execPath, [cqbatch, 'sandbox', '--port', '0', '--json', ...options]);
  try {
    const { url, token } = JSON.parse(await server.says(/\{[\s\S]*\}\n/));
    return await Promise.race([use({ url, token }), server.lost]);
  } finally {
    await server.end('SIGINT');
  }
}

/**
 * @template Result
 * @param {URL} script
 * @param {readonly string[]} args
 * @param {(api: LocalApi) => Promise<Result>} use
 * @returns {Promise<Result>}
 */
async function withServer(script, args, use) {
  const server = startScript(script, args);
  const ended = once(server, 'exit').then(() => {
    throw new Error('The local server ended.');
  });
  // Killing it in the end is not a failure; if it dies earlier, callers that wait for an answer learn about it.
  ended.catch(() => {});
  const answer = async () => (await Promise.race([once(server, 'message'), ended]))[0];
  const ask = async (/** @type {string} */ question) => {
    server.send(question);
    return answer();
  };
  try {
    const { port } = /** @type {{ port: number }} */ (await answer());
    return await use({
      url: `http://127.0.0.1:${port}`,
      takeArrivals: () => ask('take arrivals'),
      takeHandshakes: () => ask('take handshakes'),
    });
  } finally {
    server.kill();
  }
}
