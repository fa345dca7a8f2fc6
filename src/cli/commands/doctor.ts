import { access, constants, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { operations } from '../../../jobs/index.ts';
import { withScope } from '../../base/async/scope.ts';
import { exists } from '../../base/disk/files.ts';
import { CqbatchError } from '../../base/errors/errors.ts';
import { onDisk } from '../../base/errors/system-error.ts';
import { readLeastNode } from '../../base/package.ts';
import { duration, size } from '../../base/text/format.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { isAtLeast } from '../../base/text/version.ts';
import type { ApiAnswer } from '../../engine/api/client.ts';
import { refusalText } from '../../engine/operation/operation.ts';
import { checkStateFolder } from '../../engine/run/record/state-folder.ts';
import type { Settings } from '../../settings/settings.ts';
import { settingsWithoutEffect } from '../command-spec.ts';
import { type Flags, loadSettings, stateDirOf } from '../config.ts';
import { chooseDatastore, operationsWith } from '../context.ts';
import { type ExitCode, exitCodeOfError, exitCodes } from '../exit-codes.ts';
import { type Style, styled } from '../render/style.ts';
import { table } from '../render/words.ts';
import { openTerminal, silentTerminal, type Terminal } from '../terminal.ts';
import { apiClient, proxyTo, tokenSource } from './api-client.ts';
import { baseUrlOf } from './options.ts';

interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly text: string;
  readonly exitCode?: ExitCode;
}

const styleOf = { ok: 'green', warning: 'yellow', failed: 'red' } as const satisfies Record<
  Finding['state'],
  Style
>;

/** The bytes of disk that a run of a million rows takes. With less, doctor warns, and below `leastDisk` it fails. */
const enoughDisk = 1_000_000_000;
const leastDisk = 100_000_000;
/** A larger difference from the API's clock makes time-outs, schedules and report times wrong. */
const clockToleranceMs = 30_000;
const callMs = 10_000;

/** Checks whether runs will work, and changes nothing. */
export async function doctor(flags: Flags): Promise<ExitCode> {
  const terminal = openTerminal(flags);
  const findings: Finding[] = [nodeFinding()];
  const add = async (
    check: string,
    look: () => Promise<Finding | readonly Finding[] | string>,
  ): Promise<void> => {
    try {
      const result = await look();
      findings.push(...(typeof result === 'string' ? [okFinding(check, result)] : [result].flat()));
    } catch (error) {
      if (!(error instanceof CqbatchError)) throw error;
      const { code, message } = error;
      findings.push({
        check: checkOf(code) ?? check,
        state: 'failed',
        text: message,
        exitCode: exitCodeOfError(error),
      });
    }
  };
  const stateDir = stateDirOf(flags);
  let settings: Settings | undefined;
  await add('state folder', () => stateFolder(stateDir));
  await add('disk', () => disk(stateDir));
  await add('settings', async () => {
    settings = await loadSettings(flags);
    const unused = settingsWithoutEffect(settings);
    return unused.length === 0 ? 'can be read' : unused.map((text) => warningFinding('settings', text));
  });
  if (settings !== undefined) {
    const loaded = settings;
    await add('datastore', () => datastore(flags, loaded));
    await add('API', () => api(flags, loaded, terminal));
  }
  const failed = findings.flatMap(({ exitCode }) => exitCode ?? []);
  terminal.result(
    { ok: failed.length === 0, checks: findings.map(({ check, state, text }) => ({ check, state, text })) },
    table(
      findings.map(({ check, state, text }) => [styled(styleOf[state], state), check, escapeInvisible(text)]),
    ).join('\n'),
  );
  return failed.toSorted((a, b) => b - a)[0] ?? exitCodes.success;
}

const [restore] = operations;
const checkPath = 'check the base URL (--base-url) and its path prefix';

function okFinding(check: string, text: string): Finding {
  return { check, state: 'ok', text };
}

function warningFinding(check: string, text: string): Finding {
  return { check, state: 'warning', text };
}

function checkOf(code: string): string | undefined {
  if (code.startsWith('PROXY')) return 'proxy';
  if (code.startsWith('TLS')) return 'TLS';
  return /^(TOKEN|UNAUTHENTICATED|PERMISSION_DENIED)/.test(code) ? 'token' : undefined;
}

function nodeFinding(): Finding {
  const { node } = process.versions;
  const least = readLeastNode();
  if (isAtLeast(node, least)) return okFinding('Node', node);
  const text = `${node} is too old: install Node ${least} or newer`;
  return { check: 'Node', state: 'failed', text, exitCode: exitCodes.usage };
}

async function stateFolder(stateDir: string): Promise<readonly Finding[]> {
  const check = 'state folder';
  const warnings = await checkStateFolder(stateDir);
  const path = await existingParent(stateDir);
  await onDisk(path, () => access(path, constants.W_OK));
  if (warnings.length > 0) return warnings.map((text) => warningFinding(check, text));
  return [
    okFinding(check, path === resolve(stateDir) ? stateDir : `${stateDir} will be created by the first run`),
  ];
}

async function existingParent(path: string): Promise<string> {
  const full = resolve(path);
  return (await exists(full)) || full === dirname(full) ? full : existingParent(dirname(full));
}

async function disk(stateDir: string): Promise<Finding> {
  const folder = await existingParent(stateDir);
  const { bavail, bsize } = await onDisk(folder, () => statfs(folder));
  const freeBytes = bavail * bsize;
  if (freeBytes >= enoughDisk) return okFinding('disk', `${size(freeBytes)} free`);
  const text = `only ${size(freeBytes)} free: free some space, or choose another folder with --state-dir`;
  return freeBytes >= leastDisk
    ? warningFinding('disk', text)
    : { check: 'disk', state: 'failed', text, exitCode: exitCodes.fatal };
}

async function datastore(flags: Flags, settings: Settings): Promise<readonly Finding[]> {
  const check = 'datastore';
  const warnings: string[] = [];
  const terminal = {
    ...silentTerminal(),
    warn: (text: string) => void warnings.push(text.replace(/^warning: /, '')),
  };
  const choice = await chooseDatastore({ terminal, flags, settings });
  if (choice.queue === undefined) return [okFinding(check, 'embedded, in the state folder')];
  const { description } = await withScope((defer) => choice.open('doctor', defer));
  return [okFinding(check, description), ...warnings.map((text) => warningFinding(check, text))];
}

/**
 * Sends one request without fields, which the service must refuse. An API of the user's own operations gets a GET of the base URL, which
 * changes nothing: a path of the service is not theirs, and a request of an operation might make a change.
 */
async function api(flags: Flags, settings: Settings, terminal: Terminal): Promise<readonly Finding[]> {
  const baseUrl = baseUrlOf(flags, settings);
  if (baseUrl === undefined)
    return [warningFinding('API', 'has no address: set CQBATCH_BASE_URL or pass --base-url https://…')];
  const { allowInsecureHttp } = flags;
  const proxy = proxyTo({ baseUrl, allowInsecureHttp });
  const loaded = await operationsWith(settings);
  const token = tokenSource({ settings, terminal, store: { operations: loaded } });
  await token.current();
  const isForeign = settings.operations !== undefined;
  const { path } = isForeign ? { path: '/' } : restore.request({ evaluation_id: '1', user_id: 'doctor' });
  const client = await apiClient({ baseUrl, allowInsecureHttp, concurrency: 1, timeoutMs: callMs }, token);
  try {
    const looking = { method: 'GET', path, body: '', auth: 'none' } as const;
    const answer = await client.send(isForeign ? looking : { path, body: '{}' }, { keepAnswer: true });
    return [
      ...(proxy === undefined ? [] : [okFinding('proxy', proxy)]),
      ...(isForeign ? findingsOfReachedApi(baseUrl, answer) : findingsOfAnswer(baseUrl, path, answer)),
      ...(answer.received === undefined ? [] : [clock(answer.received.headers['date'])].flat()),
    ];
  } finally {
    await client.close();
  }
}

/** What an answer proves: the address is reached. Only a call of an operation proves that path and token are right. */
function findingsOfReachedApi(baseUrl: string, answer: ApiAnswer): readonly Finding[] {
  const status = answer.ok ? answer.status : answer.failure.status;
  if (status === undefined) return findingsOfAnswer(baseUrl, '/', answer);
  return [
    status < 500
      ? okFinding('API', `${baseUrl} answers a GET with ${status}`)
      : warningFinding('API', `${baseUrl} answers a GET with ${status}`),
    ...(baseUrl.startsWith('https:') ? [okFinding('TLS', 'the certificate is trusted')] : []),
    warningFinding(
      'token',
      'is there, but was not sent: only a call of an operation can check it. Run a few rows with --canary',
    ),
  ];
}

/** Any answer but one of the service may come from another API, of which `doctor` knows nothing without its operations. */
const ifOwnApi = 'For the API of your own operations, pass --operations FILE';

function findingsOfAnswer(baseUrl: string, path: string, answer: ApiAnswer): readonly Finding[] {
  if (answer.ok)
    return [
      warningFinding(
        'API',
        `${baseUrl}${path} accepts a request without content: check the base URL. ${ifOwnApi}`,
      ),
    ];
  const { code, class: kind, status = 0 } = answer.failure;
  const message = refusalText(restore, answer.failure);
  if (status >= 400 && status < 500 && kind !== 'halt' && kind !== 'halt-early') {
    const tls = baseUrl.startsWith('https:') ? [okFinding('TLS', 'the certificate is trusted')] : [];
    if (isOfOperation(status, answer.received?.body ?? ''))
      return [okFinding('API', baseUrl), ...tls, okFinding('token', 'is accepted')];
    const what = `${baseUrl}${path} answers ${status} (${message}), as routers do for a wrong path: ${checkPath}. ${ifOwnApi}`;
    return [
      warningFinding('API', what),
      ...tls,
      warningFinding('token', 'could not be checked: the answer need not be that of the operation'),
    ];
  }
  return [
    {
      check: checkOf(code) ?? 'API',
      state: 'failed',
      text:
        status === 0
          ? `${baseUrl}: ${message} (${code})`
          : `${baseUrl}${path} answers ${status}: ${message} (${code}). ${ifOwnApi}`,
      exitCode: exitCodes.fatal,
    },
  ];
}

/** Statuses with which an API refuses a request's content. Not 404, 405, 415 or 429, which routers and gateways send, too. */
const contentRefusals: readonly number[] = [400, 409, 412, 422];

/** Whether an answer comes from the operation, which has then accepted the token. */
function isOfOperation(status: number, body: string): boolean {
  return contentRefusals.includes(status) && /^\s*\{\s*"/.test(body);
}

function clock(date: string | undefined): readonly Finding[] {
  const apiTime = Date.parse(date ?? '');
  if (Number.isNaN(apiTime)) return [];
  const behindMs = apiTime - Date.now();
  if (Math.abs(behindMs) <= clockToleranceMs) return [okFinding('clock', 'agrees with that of the API')];
  const by = duration(Math.abs(behindMs) / 1_000);
  return [
    warningFinding(
      'clock',
      `is ${by} ${behindMs > 0 ? 'behind' : 'ahead of'} that of the API: set it, for example with NTP`,
    ),
  ];
}
