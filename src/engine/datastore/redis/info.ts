import { fatalError } from '../../../base/errors/errors.ts';
import { isAtLeast } from '../../../base/text/version.ts';
import { unsupportedCluster } from './address.ts';

/** The least version: BullMQ's scripts require it. Valkey started with a later version. */
const leastVersion = '6.2';

export interface ServerInfo {
  /** `Redis 7.0.15`, `Valkey 8.1.0`; without a number if unknown. */
  readonly server: string;
  readonly version: string | undefined;
  readonly evictionPolicy: string | undefined;
  /** The number of evicted keys since the start of the server. */
  readonly evictedKeys: number;
  readonly warnings: readonly string[];
}

type Fields = ReadonlyMap<string, string>;

export const evictionRemedy =
  'type "CONFIG SET maxmemory-policy noeviction" in redis-cli, and set the same in its configuration file.';

/**
 * Judges `INFO` of Redis. Missing facts count as fine.
 *
 * @param mayEvict a user accepts that Redis deletes keys when its memory is full
 * @throws a fatal error that says what must change
 */
export function judgeInfo(text: string, where: string, mayEvict = false): ServerInfo {
  const fields = parseInfo(text);
  const redis = `Redis at ${where}`;
  const valkey = fields.get('valkey_version');
  const name = valkey !== undefined || fields.get('server_name') === 'valkey' ? 'Valkey' : 'Redis';
  const version = name === 'Valkey' ? valkey : fields.get('redis_version');

  if (fields.get('redis_mode') === 'sentinel') {
    throw fatalError(
      'REDIS_SENTINEL',
      `${redis} is a Sentinel: write redis+sentinel:// and the name of the primary, ` +
        'as in redis+sentinel://sentinel-1.example.com:26379/mymaster/0.',
    );
  }
  if (fields.get('redis_mode') === 'cluster') {
    throw fatalError('REDIS_CLUSTER', `${redis} is part of ${unsupportedCluster}.`);
  }
  const isOld = version !== undefined && /^\d+\.\d+/.test(version) && !isAtLeast(version, leastVersion);
  if (name === 'Redis' && isOld) {
    throw fatalError(
      'REDIS_VERSION',
      `${redis} is version ${version}: the queue needs Redis ${leastVersion} or newer, or Valkey.`,
    );
  }
  if (fields.get('role') === 'slave') {
    const primary = `${fields.get('master_host') ?? '?'}:${fields.get('master_port') ?? '?'}`;
    throw fatalError(
      'REDIS_REPLICA',
      `${redis} is a replica of ${primary}: connect to that primary, or through Sentinel (redis+sentinel://).`,
    );
  }
  const limit = numberOf(fields, 'maxmemory');
  const policy = fields.get('maxmemory_policy');
  const evicts = limit > 0 && policy !== undefined && policy !== 'noeviction';
  const deletes = `${redis} deletes keys when its memory is full (maxmemory-policy ${policy})`;
  if (evicts && !mayEvict)
    throw fatalError('REDIS_EVICTION', `${deletes}, which would lose rows: ${evictionRemedy}`);
  const used = numberOf(fields, 'used_memory');
  if (limit > 0 && used >= limit && !evicts) {
    throw fatalError(
      'REDIS_FULL',
      `${redis} has no memory left (${megabytes(used)} MB used, maxmemory is ${megabytes(limit)} MB): ` +
        'raise it with "CONFIG SET maxmemory", or delete what is not needed.',
    );
  }
  const noLog =
    `${redis} does not persist its writes: if it crashes, rows in progress are called again and marked unclear. ` +
    'Type "CONFIG SET appendonly yes" in redis-cli, and set the same in its configuration file.';
  return {
    server: version === undefined ? name : `${name} ${version}`,
    version,
    evictionPolicy: policy,
    evictedKeys: numberOf(fields, 'evicted_keys'),
    warnings: [
      ...(evicts
        ? [`${deletes}: rows may be called again, and marked unclear. To end this, ${evictionRemedy}`]
        : []),
      ...(fields.get('aof_enabled') === '0' ? [noLog] : []),
    ],
  };
}

export function evictedKeys(text: string): number {
  return numberOf(parseInfo(text), 'evicted_keys');
}

export function isLoading(text: string): boolean {
  return numberOf(parseInfo(text), 'loading') > 0;
}

function parseInfo(text: string): Fields {
  const lines = text.matchAll(/^(?!#)([^:\r\n]+):(.*)$/gm);
  return new Map(Array.from(lines, ([, name = '', value = '']) => [name, value]));
}

function numberOf(fields: Fields, name: string): number {
  const value = Number(fields.get(name) ?? 0);
  return Number.isFinite(value) ? value : 0;
}

function megabytes(bytes: number): string {
  return (bytes / 1_048_576).toFixed(1);
}
