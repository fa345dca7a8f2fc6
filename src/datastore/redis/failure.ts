import { type CqbatchError, fatalError } from '../../errors.ts';
import { SystemError } from '../../system-error.ts';
import type { RedisAddress } from './address.ts';

/** What an error is explained from, besides itself. */
export interface FailureContext {
  /** Without a password: `redis://127.0.0.1:6379/0`. */
  readonly where: string;
  readonly address: RedisAddress;
  /** The name that all keys begin with, in braces. */
  readonly prefix: string;
  /** Never to be shown. */
  readonly secrets: readonly string[];
}

interface Rule {
  /** What the error's code or message looks like. */
  readonly pattern: RegExp;
  readonly code: string;
  /** What is wrong and what to do, after `Redis at <address> `. */
  readonly say: (context: FailureContext, message: string) => string;
}

const rules: readonly Rule[] = [
  {
    pattern: /failed to connect to sentinel.*\b(NOAUTH|WRONGPASS)\b/,
    code: 'REDIS_AUTH',
    say: () =>
      "can't be asked for, as its Sentinels do not accept the login. Give the password of the Sentinels, which is " +
      'one of their own, and their ACL user, if there is one, as ?sentinel-user=name.',
  },
  {
    pattern: /\bWRONGPASS\b|invalid password|without any password configured|no password is set/i,
    code: 'REDIS_AUTH',
    say: ({ address }) =>
      address.username === undefined
        ? 'refuses the password: give the right one, and the ACL user if there is one.'
        : 'does not accept this user with this password: give the right ones.',
  },
  {
    pattern: /\bNOAUTH\b/,
    code: 'REDIS_AUTH',
    say: ({ address }) =>
      address.password === undefined
        ? 'asks for a password: give it, and the ACL user if there is one.'
        : 'asks for another login: give the right ACL user and password.',
  },
  {
    pattern: /^DENIED\b/,
    code: 'REDIS_AUTH',
    say: () => 'lets in connections from its own machine only: set a password on it (its "requirepass").',
  },
  {
    pattern: /\bNOPERM\b|can't run this command|can't access at least one of the keys/,
    code: 'REDIS_PERMISSION',
    say: ({ address, prefix }, message) =>
      `forbids this user what the queue needs (${message}): allow it with ` +
      `"ACL SETUSER ${address.username ?? 'default'} ~${prefix}:* +@all -@dangerous +info".`,
  },
  {
    pattern: /\b(READONLY|MASTERDOWN)\b/,
    code: 'REDIS_REPLICA',
    say: () => 'is a replica, which can only be read: connect to its primary, or through Sentinel.',
  },
  {
    pattern: /\bOOM\b/,
    code: 'REDIS_FULL',
    say: () => 'has no memory left: raise its maxmemory, or delete what is not needed.',
  },
  {
    pattern: /\bNOREPLICAS\b/,
    code: 'REDIS_READ_ONLY',
    say: (_, message) => `refuses to write at the moment (${message}): mend that on its machine.`,
  },
  {
    pattern: /\bLOADING\b/,
    code: 'REDIS_LOADING',
    say: () => 'is still loading its data: try again when it is done.',
  },
  {
    pattern: /cluster support disabled/,
    code: 'REDIS_CLUSTER',
    say: () => 'is not a Cluster: write redis:// instead of redis+cluster://.',
  },
  {
    pattern: /^(MOVED|ASK|CROSSSLOT)\b/,
    code: 'REDIS_CLUSTER',
    say: () => 'is part of a Cluster: write redis+cluster:// instead of redis://.',
  },
  {
    pattern: /\bCLUSTERDOWN\b/,
    code: 'REDIS_CLUSTER',
    say: () => 'is a Cluster that is not working at the moment: look at its "CLUSTER INFO".',
  },
  {
    pattern: /No such master|got an invalid reply: null/,
    code: 'REDIS_SENTINEL',
    say: ({ address }) =>
      `has no primary named "${address.kind === 'sentinel' ? address.name : ''}": ` +
      'write the name that the Sentinels know (see "SENTINEL masters").',
  },
  {
    pattern: /unknown command [`'"]?sentinel/i,
    code: 'REDIS_SENTINEL',
    say: () => 'is no Sentinel: give the addresses of the Sentinels, or connect to Redis with redis://.',
  },
  {
    pattern: /DB index is out of range|invalid DB index/i,
    code: 'REDIS_DATABASE',
    say: ({ address }) => `has no database ${address.db}: choose one that it has, such as 0.`,
  },
  {
    pattern: /max number of clients/,
    code: 'REDIS_UNREACHABLE',
    say: () => 'has as many clients as it takes: raise its maxclients, or stop others.',
  },
  {
    pattern: /certificate[_ ]required/i,
    code: 'REDIS_TLS',
    say: () =>
      'asks for a certificate of the client, which there is none of: set its "tls-auth-clients" to "no".',
  },
  {
    pattern: /CERT|ALTNAME|self[- ]signed|unable to verify/i,
    code: 'REDIS_TLS',
    say: (_, message) =>
      `has a certificate that is not trusted (${message}): give the file of the certificate authority ` +
      'in NODE_EXTRA_CA_CERTS, and the host name that the certificate is for.',
  },
  {
    pattern: /\b(EPROTO|ERR_SSL\w*)\b|wrong version number|\bSSL\b/,
    code: 'REDIS_TLS',
    say: (_, message) =>
      `does not speak TLS (${message}): write redis:// instead of rediss://, or its TLS port.`,
  },
  {
    pattern: /\bECONNREFUSED\b/,
    code: 'REDIS_UNREACHABLE',
    say: () => 'refuses the connection: start Redis there, or correct the address (ECONNREFUSED).',
  },
  {
    pattern: /\b(ENOTFOUND|EAI_AGAIN|EAI_\w+)\b/,
    code: 'REDIS_UNREACHABLE',
    say: () =>
      "can't be found: the host name does not resolve. Correct the address, or mend the name service.",
  },
  {
    pattern: /\bENOENT\b/,
    code: 'REDIS_UNREACHABLE',
    say: () => 'is not there: there is no such socket. Start Redis, or correct the path (its "unixsocket").',
  },
  {
    pattern: /\bEACCES\b/,
    code: 'REDIS_UNREACHABLE',
    say: () =>
      'may not be used by this user of the system: see the rights of the socket (its "unixsocketperm").',
  },
  {
    pattern: /\b(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|timed? ?out)\b/i,
    code: 'REDIS_UNREACHABLE',
    say: ({ address }) =>
      address.tls
        ? 'does not answer: check the address, whether it speaks TLS there, and whether a firewall is in the way.'
        : 'does not answer: check the address, and whether a firewall is in the way.',
  },
  {
    pattern: /connected, but no reply/,
    code: 'REDIS_UNREACHABLE',
    say: () => 'takes the connection but does not answer: see whether it hangs, or correct the address.',
  },
  {
    pattern: /protocol error|please report this|unexpected (byte|type)/i,
    code: 'REDIS_UNREACHABLE',
    say: () => 'does not answer as Redis does: another service may be listening there. Correct the address.',
  },
  {
    pattern: /connection is closed|\b(ECONNRESET|EPIPE)\b|socket disconnected/i,
    code: 'REDIS_UNREACHABLE',
    say: ({ address }) =>
      address.tls || address.kind === 'socket'
        ? 'closes the connection without an answer: correct the address.'
        : 'closes the connection without an answer: if it speaks TLS, write rediss:// instead of redis://.',
  },
  {
    pattern: /None of startup nodes/,
    code: 'REDIS_CLUSTER',
    say: () => 'is a Cluster without nodes that could be used: look at its "CLUSTER NODES".',
  },
];

/**
 * Explains why Redis can't be used, from what went wrong in the order in which it did: the rule that says most wins,
 * whichever of the errors it is about.
 */
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
  for (const rule of rules) {
    const cause = causes.find((error) => rule.pattern.test(textOf(error)));
    if (cause === undefined) continue;
    const clean = shown(cause);
    const said = rule.say(context, firstLine(clean.message));
    return fatalError(rule.code, `Redis at ${context.where} ${said}`, clean);
  }
  const last = causes.length === 0 ? undefined : shown(causes.at(-1));
  return fatalError(
    'REDIS_UNREACHABLE',
    `Redis at ${context.where} can't be used${last === undefined ? '' : ` (${firstLine(last.message)})`}: ` +
      'correct the address, or look at the log of Redis.',
    last,
  );
}

/** ioredis wraps the errors of a Cluster's nodes, Node those of a host with several addresses. */
function innermost(error: unknown): unknown {
  const { lastNodeError, errors } = error as { lastNodeError?: unknown; errors?: readonly unknown[] };
  return lastNodeError ?? errors?.at(-1) ?? error;
}

function textOf(error: unknown): string {
  const { message = '', code = '' } = error as Partial<NodeJS.ErrnoException>;
  return `${firstLine(message)} ${code}`;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.trim().replace(/\.$/, '') ?? '';
}

/** The error for logs and as a `cause`: the same message and code, without passwords and without what was sent. */
function withoutSecrets(error: unknown, secrets: readonly string[]): Error {
  const { message, code } = error as Partial<NodeJS.ErrnoException>;
  const clean = new Error(removeSecrets(String(message ?? error), secrets));
  return code === undefined ? clean : Object.assign(clean, { code });
}

/** Takes the command that ioredis hangs on an error, which may hold a password, off an error that others get to see. */
export function dropCommand(error: unknown): void {
  if (typeof error === 'object' && error !== null && 'command' in error) delete error.command;
}

/** The text without the passwords in it. */
export function removeSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '…')), text);
}
