/** What the files of a folder may import besides each other and Node's modules. */
export interface Allowed {
  /** Folders and files. */
  readonly folders: readonly string[];
  readonly packages: readonly string[];
}

/**
 * The rooms that each room may import. The entry with the longest name that holds a file counts; `src` holds the files directly in it.
 * No file imports from a room above its own.
 */
export const allowedImports: Readonly<Record<string, Allowed>> = {
  'src/cli': {
    folders: ['src/index.ts', 'src/sandbox', 'jobs', 'src/text', 'src'],
    packages: ['commander', 'pino'],
  },
  'src/executable': { folders: ['src/disk'], packages: ['postject', 'rolldown', 'tar'] },
  'src/index.ts': {
    folders: [
      'src/library',
      'src/dashboard',
      'src/inbox',
      'src/metrics',
      'src/schedule',
      'src/settings',
      'src/run/session',
      'src/run/report',
      'src/run/feed',
      'src/run/plan',
      'src/run/record',
      'src/worker',
      'src/rate',
      'src/cluster',
      'src/datastore',
      'src/report',
      'src/manifest',
      'src/journal',
      'jobs',
      'src/operation',
      'src/api',
      'src/signature',
      'src/disk',
      'src/text',
      'src',
    ],
    packages: [],
  },
  'src/library': {
    folders: [
      'src/settings',
      'src/run/session',
      'src/run/report',
      'src/run/plan',
      'src/run/record',
      'src/datastore',
      'src/report',
      'src/manifest',
      'src/journal',
      'src/operation',
      'src/api',
      'src',
    ],
    packages: [],
  },
  'src/page': {
    folders: [
      'src/dashboard/page-data.ts',
      'src/report',
      'src/manifest/formula-guard.ts',
      'src/text/local-time.ts',
      'src/text/printable.ts',
      'src/text/quantities.ts',
      'src/domain.ts',
    ],
    packages: ['rolldown', 'uplot'],
  },
  'src/dashboard': {
    folders: [
      'src/schedule',
      'src/run/session',
      'src/run/report',
      'src/run/record',
      'src/cluster',
      'src/text',
      'src',
    ],
    packages: ['fastify'],
  },
  'src/inbox': {
    folders: ['src/run/plan', 'src/run/record', 'src/manifest', 'src/disk', 'src/text', 'src'],
    packages: ['picomatch', 'zod'],
  },
  'src/metrics': {
    folders: ['src/run/session', 'src/run/record', 'src/operation', 'src/api', 'src/disk', 'src'],
    packages: ['prom-client'],
  },
  'src/schedule': {
    folders: ['src/run/record', 'src/disk', 'src'],
    packages: ['croner', 'zod'],
  },
  'src/settings': {
    folders: [
      'src/run/plan',
      'src/run/record',
      'src/cluster',
      'src/manifest',
      'src/signature',
      'src/text',
      'src',
    ],
    packages: [],
  },
  'src/run/session': {
    folders: [
      'src/run/report',
      'src/run/feed',
      'src/run/plan',
      'src/run/record',
      'src/worker',
      'src/rate',
      'src/queue',
      'src/cluster',
      'src/datastore',
      'src/report',
      'src/journal',
      'src/api',
      'src/disk',
      'src',
    ],
    packages: ['zod'],
  },
  'src/run/report': {
    folders: ['src/run/plan', 'src/run/record', 'src/report', 'src/manifest', 'src/journal', 'src'],
    packages: [],
  },
  'src/run/feed': {
    folders: ['src/run/record', 'src/queue', 'src/cluster', 'src/datastore', 'src/journal', 'src'],
    packages: [],
  },
  'src/run/plan': {
    folders: [
      'src/run/record',
      'src/queue',
      'src/report',
      'src/manifest',
      'src/journal',
      'src/operation',
      'src/signature',
      'src/disk',
      'src/text',
      'src',
    ],
    packages: ['zod'],
  },
  'src/run/record': {
    folders: [
      'src/queue',
      'src/cluster',
      'src/datastore',
      'src/report',
      'src/manifest',
      'src/journal',
      'src/operation',
      'src/disk',
      'src/text',
      'src',
    ],
    packages: ['croner', 'zod'],
  },
  'src/worker': {
    folders: ['src/rate', 'src/queue', 'src/cluster', 'src/datastore', 'src/operation', 'src/api', 'src'],
    packages: [],
  },
  'src/rate': { folders: ['src/rate/governor', 'src/cluster', 'src/api', 'src'], packages: [] },
  'src/rate/governor': { folders: ['src/api/limits.ts', 'src/pace.ts'], packages: [] },
  'src/queue': { folders: ['src/datastore', 'src'], packages: ['bullmq'] },
  'src/cluster': { folders: ['src/datastore', 'src'], packages: ['zod'] },
  'src/datastore': {
    folders: ['src/disk', 'src'],
    packages: ['@electric-sql/pglite', 'bullmq', 'ioredis', 'tar', 'zod'],
  },
  'src/report': {
    folders: ['src/manifest', 'src/journal', 'src/operation', 'src/disk', 'src/text', 'src'],
    packages: ['hucre', 'zod'],
  },
  'src/manifest': {
    folders: ['src/operation', 'src/api', 'src/text', 'src'],
    packages: ['csv-parse', 'hucre', 'lossless-json', 'zod'],
  },
  'src/journal': { folders: ['src/text', 'src'], packages: [] },
  'src/sandbox': {
    folders: ['src/text/quantities.ts', 'src/text/json.ts', 'src/clock.ts', 'src/errors.ts'],
    packages: ['zod'],
  },
  jobs: { folders: ['src/operation', 'src/api/endpoints'], packages: [] },
  'src/operation': { folders: ['src/api', 'src/text', 'src'], packages: ['zod'] },
  'src/api': { folders: ['src/disk', 'src/text', 'src'], packages: ['p-retry', 'undici', 'zod'] },
  'src/signature': { folders: ['src/disk', 'src/text', 'src'], packages: ['zod'] },
  'src/disk': { folders: ['src'], packages: ['proper-lockfile', 'zod'] },
  'src/text': { folders: [], packages: ['lossless-json'] },
  src: { folders: [], packages: ['rolldown', 'zod'] },
};
