import type { ErrorCode } from '../../../base/errors/error-codes.ts';
import { type CqbatchError, fatalError } from '../../../base/errors/errors.ts';
import { SystemError } from '../../../base/errors/system-error.ts';
import { type RedisAddress, unsupportedCluster } from './address.ts';

export interface FailureContext {
  /** The address of the Redis for messages, without a password. */
  readonly where: string;
  readonly address: RedisAddress;
  /** The prefix of all keys, in braces. */
  readonly prefix: string;
  readonly secrets: readonly string[];
  /** Where the password comes from: a variable or a file. */
  readonly passwordPlace: string;
}

/** The rest of a sentence that begins with `Redis at <address> `. */
type Explanation = string | ((context: FailureContext, message: string) => string);

/** A pattern for an error's code or message; most informative first. */
const rules: readonly (readonly [code: ErrorCode, pattern: RegExp, explanation: Explanation])[] = [
  [
    'REDIS_AUTH',
    /failed to connect to sentinel.*\b(NOAUTH|WRONGPASS)\b/,
    "can't be found, because its Sentinels refuse the login. Set CQBATCH_SENTINEL_PASSWORD, " +
      'and pass their ACL user, if they have one, as ?sentinel-user=name.',
  ],
  [
    'REDIS_AUTH',
    /\bWRONGPASS\b|invalid password|without any password configured|no password is set/i,
    ({ address, passwordPlace }) =>
      address.username === undefined
        ? `refuses the password: correct ${passwordPlace}, and put the ACL user, if there is one, into the address.`
        : `does not accept this user with this password: correct ${passwordPlace}, or the user in the address.`,
  ],
  [
    'REDIS_AUTH',
    /\bNOAUTH\b/,
    ({ address, passwordPlace }) =>
      address.password === undefined
        ? 'asks for a password: set CQBATCH_QUEUE_PASSWORD, and put the ACL user, if there is one, into the address.'
        : `asks for another login: correct ${passwordPlace}, or the user in the address.`,
  ],
  [
    'REDIS_AUTH',
    /^DENIED\b/,
    'accepts connections only from its own machine: set a password there ("requirepass").',
  ],
  [
    'REDIS_PERMISSION',
    /\bNOPERM\b|can't run this command|can't access at least one of the keys/,
    ({ address, prefix }, message) =>
      `does not allow this user what the queue needs (${message}): allow it with ` +
      `"ACL SETUSER ${address.username ?? 'default'} ~${prefix}:* +@all -@dangerous +info".`,
  ],
  [
    'REDIS_REPLICA',
    /\b(READONLY|MASTERDOWN)\b/,
    'is a read-only replica: connect to its primary, or through Sentinel.',
  ],
  ['REDIS_FULL', /\bOOM\b/, 'has no memory left: raise its maxmemory, or delete what is not needed.'],
  [
    'REDIS_READ_ONLY',
    /\bNOREPLICAS\b/,
    (_, message) => `refuses writes at the moment (${message}): fix that on its machine.`,
  ],
  ['REDIS_LOADING', /\bLOADING\b/, 'is still loading its data: wait until it is done.'],
  [
    'REDIS_CLUSTER',
    /^(MOVED|ASK|TRYAGAIN|CROSSSLOT|CLUSTERDOWN)\b|cluster mode/,
    `is part of ${unsupportedCluster}.`,
  ],
  [
    'REDIS_SENTINEL',
    /No such master|got an invalid reply: null/,
    ({ address }) =>
      `has no primary named "${address.kind === 'sentinel' ? address.name : ''}": ` +
      'write the name that the Sentinels know (see "SENTINEL masters").',
  ],
  [
    'REDIS_SENTINEL',
    /unknown command [`'"]?sentinel/i,
    'is not a Sentinel: give the addresses of the Sentinels, or connect to Redis with redis://.',
  ],
  [
    'REDIS_DATABASE',
    /DB index is out of range|invalid DB index/i,
    ({ address }) => `has no database ${address.db}: choose one that it has, such as 0.`,
  ],
  [
    'REDIS_UNREACHABLE',
    /max number of clients/,
    'has reached its maximum number of clients: raise its maxclients, or stop other clients.',
  ],
  [
    'REDIS_TLS',
    /certificate[_ ]required/i,
    'requires a client certificate, which cqbatch does not support: set its "tls-auth-clients" to "no".',
  ],
  [
    'REDIS_TLS',
    /CERT|ALTNAME|self[- ]signed|unable to verify/i,
    (_, message) =>
      `has a certificate that is not trusted (${message}): set NODE_EXTRA_CA_CERTS to the file of its CA, ` +
      'and use the host name that the certificate is for.',
  ],
  [
    'REDIS_TLS',
    /\b(EPROTO|ERR_SSL\w*)\b|wrong version number|\bSSL\b/,
    (_, message) => `does not speak TLS (${message}): write redis:// instead of rediss://, or its TLS port.`,
  ],
  [
    'REDIS_UNREACHABLE',
    /\bECONNREFUSED\b/,
    'refuses the connection: start Redis there, or correct the address (ECONNREFUSED).',
  ],
  [
    'REDIS_UNREACHABLE',
    /\b(ENOTFOUND|EAI_AGAIN|EAI_\w+)\b/,
    "can't be found: the host name does not resolve. Correct the address, or DNS.",
  ],
  [
    'REDIS_UNREACHABLE',
    /\bENOENT\b/,
    `can't be reached: the socket doesn't exist. Start Redis, or correct the path (its "unixsocket").`,
  ],
  [
    'REDIS_UNREACHABLE',
    /\bEACCES\b/,
    `can't be opened: this user has no permission for the socket (see its "unixsocketperm").`,
  ],
  [
    'REDIS_UNREACHABLE',
    /\b(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|timed? ?out)\b/i,
    ({ address }) =>
      address.tls
        ? 'does not answer: check the address, whether it speaks TLS there, and whether a firewall is in the way.'
        : 'does not answer: check the address, and whether a firewall is in the way.',
  ],
  [
    'REDIS_UNREACHABLE',
    /connected, but no reply/,
    'accepts the connection but does not answer: check whether it hangs, or correct the address.',
  ],
  [
    'REDIS_UNREACHABLE',
    /protocol error|please report this|unexpected (byte|type)/i,
    'does not answer like Redis: another service may be listening there. Correct the address.',
  ],
  [
    'REDIS_UNREACHABLE',
    /connection is closed|\b(ECONNRESET|EPIPE)\b|socket disconnected/i,
    ({ address }) =>
      address.tls || address.kind === 'socket'
        ? 'closes the connection without an answer: correct the address.'
        : 'closes the connection without an answer: if it speaks TLS, write rediss:// instead of redis://.',
  ],
];

/** Explains why Redis can't be used, from errors in order of time: the most informative rule wins. */
export function explainFailure(errors: readonly unknown[], context: FailureContext): CqbatchError {
  const causes = errors.map(innermost);
  const shown = (cause: unknown): Error => withoutSecrets(cause, context.secrets);
  const unwritable = causes.find((error) => /\bMISCONF\b/.test(textOf(error)));
  if (unwritable !== undefined) {
    return new SystemError(
      'REDIS_READ_ONLY',
      `Redis at ${context.where} can't write to its disk and refuses to work (MISCONF)`,
      'free some space there (its log says what is wrong)',
      shown(unwritable),
    );
  }
  for (const [code, pattern, explanation] of rules) {
    const cause = causes.find((error) => pattern.test(textOf(error)));
    if (cause === undefined) continue;
    const clean = shown(cause);
    const problem =
      typeof explanation === 'string' ? explanation : explanation(context, firstLine(clean.message));
    return fatalError(code, `Redis at ${context.where} ${problem}`, clean);
  }
  const last = causes.length === 0 ? undefined : shown(causes.at(-1));
  return fatalError(
    'REDIS_UNREACHABLE',
    `Redis at ${context.where} can't be used${last === undefined ? '' : ` (${firstLine(last.message)})`}: ` +
      'correct the address, or look at the log of Redis.',
    last,
  );
}

/** Node wraps errors of a host with several addresses. */
function innermost(error: unknown): unknown {
  const { errors } = error as { errors?: readonly unknown[] };
  return errors?.at(-1) ?? error;
}

function textOf(error: unknown): string {
  const { message = '', code = '' } = error as Partial<NodeJS.ErrnoException>;
  return `${firstLine(message)} ${code}`;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.trim().replace(/\.$/, '') ?? '';
}

function withoutSecrets(error: unknown, secrets: readonly string[]): Error {
  const { message, code } = error as Partial<NodeJS.ErrnoException>;
  const clean = new Error(removeSecrets(String(message ?? error), secrets));
  return code === undefined ? clean : Object.assign(clean, { code });
}

/** An error of ioredis without its command, which may contain a password. */
export function dropCommand(error: unknown): void {
  if (typeof error === 'object' && error !== null && 'command' in error) delete error.command;
}

export function removeSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '…')), text);
}
