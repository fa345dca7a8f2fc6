import { type CqbatchError, usageError } from '../../../base/errors/errors.ts';
import { howToEncode, urlParts } from '../../../base/text/url-parts.ts';

export interface RedisEndpoint {
  readonly host: string;
  readonly port: number;
}

interface Login {
  /** The ACL user. Default: `default`. */
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/** A file with a password, which another program may renew. */
export interface PasswordFile {
  readonly path: string;
  readonly readPassword: () => Promise<string | undefined>;
}

interface AnyAddress extends Login {
  readonly tls: boolean;
  readonly db: number;
}

interface ServerAddress extends AnyAddress {
  readonly kind: 'server';
  readonly endpoint: RedisEndpoint;
}

interface SocketAddress extends AnyAddress {
  readonly kind: 'socket';
  readonly path: string;
}

interface SentinelAddress extends AnyAddress {
  readonly kind: 'sentinel';
  readonly sentinels: readonly RedisEndpoint[];
  readonly name: string;
  readonly sentinelUsername?: string | undefined;
}

/** The URL for the driver, with its password: display `describeAddress` instead. */
export type RedisAddress = ServerAddress | SocketAddress | SentinelAddress;

type Kind = RedisAddress['kind'];

const schemes: Readonly<Record<string, { readonly kind: Kind; readonly tls: boolean }>> = {
  redis: { kind: 'server', tls: false },
  rediss: { kind: 'server', tls: true },
  'redis+sentinel': { kind: 'sentinel', tls: false },
  'rediss+sentinel': { kind: 'sentinel', tls: true },
  unix: { kind: 'socket', tls: false },
  'redis+unix': { kind: 'socket', tls: false },
};

const kinds: Readonly<Record<Kind, { readonly example: string; readonly parameters: readonly string[] }>> = {
  server: { example: 'redis://user:password@redis.example.com:6379/0', parameters: ['db'] },
  sentinel: {
    example: 'redis+sentinel://sentinel-1.example.com:26379,sentinel-2.example.com:26379/mymaster/0',
    parameters: ['db', 'sentinel-user'],
  },
  socket: { example: 'unix:///run/redis/redis.sock?db=0', parameters: ['db'] },
};

/** Says that a Redis Cluster can't be used, as the end of a sentence. */
export const unsupportedCluster =
  'a Redis Cluster, which cqbatch does not support: use a Redis or Valkey server outside a cluster, with or without Sentinel';

/**
 * @throws a usage error `REDIS_URL` with the problem and an example, but no part of the address: any part may belong to a password that was
 * not percent-encoded
 */
export function parseRedisUrl(url: string): RedisAddress {
  const parts = urlParts(url);
  if (/^rediss?\+cluster$/.test(parts?.scheme ?? '')) throw urlError('server', `names ${unsupportedCluster}`);
  const scheme = schemes[parts?.scheme ?? ''];
  if (scheme === undefined || parts === undefined) {
    const known = Object.keys(schemes).map((name) => `${name}://`);
    throw urlError('server', `must begin with one of ${known.join(', ')}`);
  }
  const { kind, tls } = scheme;
  const { authority, path, query, fragment } = parts;
  if (parts.isPasswordCut) throw urlError(kind, howToEncode);
  if (fragment !== '') throw urlError(kind, 'must not have a part that begins with #');
  if (/\s/.test(url.trim())) throw urlError(kind, 'must not contain spaces; write a space as %20');

  const { login, hosts } = splitAuthority(kind, authority);
  const { 'sentinel-user': sentinelUsername, db: dbText } = readParameters(kind, query);
  switch (kind) {
    case 'server': {
      const [endpoint, ...moreHosts] = readEndpoints(kind, hosts, 6379);
      if (endpoint === undefined || moreHosts.length > 0) {
        throw urlError(
          kind,
          'must name one host: several hosts are for Sentinels (redis+sentinel://), and cqbatch does not support Redis Cluster',
        );
      }
      return { kind, endpoint, tls, db: readDb(kind, path.replace(/^\//, ''), dbText), ...login };
    }
    case 'socket': {
      if (hosts !== '') throw urlError(kind, 'must have the absolute path of the socket after unix://');
      if (path.length < 2) throw urlError(kind, 'must name the path of the socket');
      return { kind, path: decode(kind, path), tls, db: readDb(kind, '', dbText), ...login };
    }
    case 'sentinel': {
      const [name = '', db = '', ...moreParts] = path.replace(/^\//, '').split('/');
      if (name === '' || moreParts.length > 0) {
        throw urlError(kind, 'must name the primary after the Sentinels, as the Sentinels call it');
      }
      return {
        kind,
        sentinels: readEndpoints(kind, hosts, 26379),
        name: decode(kind, name),
        tls,
        db: readDb(kind, db, dbText),
        sentinelUsername,
        ...login,
      };
    }
  }
}

/** An address for people, without user and password. */
export function describeAddress(address: RedisAddress): string {
  const s = address.tls ? 's' : '';
  switch (address.kind) {
    case 'server':
      return `redis${s}://${describeEndpoints([address.endpoint])}/${address.db}`;
    case 'socket':
      return `unix://${address.path}${address.db === 0 ? '' : `?db=${address.db}`}`;
    case 'sentinel':
      return `redis${s}+sentinel://${describeEndpoints(address.sentinels)}/${address.name}/${address.db}`;
  }
}

/**
 * Empty without Sentinels.
 *
 * @param password of the Sentinels
 */
export function sentinelsOf(address: RedisAddress, password?: string): readonly RedisAddress[] {
  if (address.kind !== 'sentinel') return [];
  const { tls, sentinelUsername: username } = address;
  return address.sentinels.map((endpoint) => ({ kind: 'server', endpoint, tls, db: 0, username, password }));
}

function describeEndpoints(endpoints: readonly RedisEndpoint[]): string {
  return endpoints.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(',');
}

function splitAuthority(kind: Kind, authority: string): { readonly login: Login; readonly hosts: string } {
  const at = authority.lastIndexOf('@');
  const [, username = '', password = ''] = /^([^:]*):?(.*)$/s.exec(authority.slice(0, Math.max(at, 0))) ?? [];
  return {
    login: { username: decode(kind, username) || undefined, password: decode(kind, password) || undefined },
    hosts: authority.slice(at + 1),
  };
}

function readEndpoints(kind: Kind, hosts: string, defaultPort: number): readonly RedisEndpoint[] {
  return hosts.split(',').map((text) => {
    const [, bracketed, plain, portText] =
      /^(?:\[([0-9a-f:.%]+)\]|([^:[\]]*))(?::([^:]*))?$/i.exec(text) ?? [];
    const host = bracketed ?? plain;
    if (host === undefined) throw urlError(kind, 'must have an IPv6 address in brackets, as in [::1]:6379');
    if (host === '') throw urlError(kind, 'must name a host');
    const port = portText === undefined ? defaultPort : readNumber(portText);
    if (!(port > 0 && port < 65_536)) throw urlError(kind, 'must have a port from 1 to 65535');
    return { host: decode(kind, host), port };
  });
}

function readDb(kind: Kind, inPath: string, inQuery: string | undefined): number {
  if (inPath !== '' && inQuery !== undefined) throw urlError(kind, 'must not name the database twice');
  const text = inQuery ?? inPath;
  const db = text === '' ? 0 : readNumber(text);
  if (Number.isNaN(db)) throw urlError(kind, 'must have a number as database, from 0');
  return db;
}

function readParameters(kind: Kind, query: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(query)) {
    const allowed = kinds[kind].parameters;
    if (!allowed.includes(name)) {
      const known = allowed.join(', ');
      throw urlError(kind, `has an unknown parameter after the question mark (known: ${known})`);
    }
    if (found[name] !== undefined) throw urlError(kind, `must not have the parameter ${name} twice`);
    found[name] = value;
  }
  return found;
}

function readNumber(text: string): number {
  return /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
}

function decode(kind: Kind, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw urlError(kind, 'has a % that does not begin a percent-encoded character; write % itself as %25');
  }
}

function urlError(kind: Kind, problem: string): CqbatchError {
  return usageError('REDIS_URL', `The address of Redis ${problem}. Example: ${kinds[kind].example}`);
}
