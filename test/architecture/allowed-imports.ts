/** What the files of a folder may import besides each other, and besides what is in Node. */
export interface Allowed {
  /** Folders and files. */
  readonly folders: readonly string[];
  readonly packages: readonly string[];
}

/**
 * Who may import whom. The entry with the longest name that holds a file counts; `src` holds the files directly in it.
 * Nobody imports what stands above it.
 */
export const allowedImports: Readonly<Record<string, Allowed>> = {
  'src/cli': {
    folders: [
      ...[
        'src/dashboard',
        'src/schedule',
        'src/inbox',
        'src/metrics',
        'src/run',
        'src/worker',
        'src/rate',
        'src/cluster',
        'src/datastore',
        'src/report',
      ],
      ...['src/manifest', 'src/journal', 'jobs', 'src/operation', 'src/api', 'src/sandbox', 'src'],
    ],
    packages: ['commander', 'pino'],
  },
  'src/page': {
    folders: [
      ...['src/dashboard/page-data.ts', 'src/report'],
      ...['src/manifest/formula-guard.ts', 'src/domain.ts', 'src/local-time.ts', 'src/printable.ts'],
    ],
    packages: ['rolldown', 'uplot'],
  },
  'src/dashboard': {
    folders: ['src/schedule', 'src/run', 'src/cluster', 'src'],
    packages: ['fastify'],
  },
  'src/inbox': { folders: ['src/run', 'src/manifest', 'src'], packages: ['picomatch', 'zod'] },
  'src/metrics': { folders: ['src/run', 'src/operation', 'src/api', 'src'], packages: ['prom-client'] },
  'src/schedule': {
    folders: ['src/run', 'src/queue', 'src/datastore', 'src'],
    packages: ['croner', 'pino', 'zod'],
  },
  'src/run': {
    folders: [
      ...[
        'src/worker',
        'src/rate',
        'src/cluster',
        'src/queue',
        'src/datastore',
        'src/report',
        'src/manifest',
      ],
      ...['src/journal', 'src/operation', 'src/api', 'src'],
    ],
    packages: ['croner', 'pino', 'zod'],
  },
  'src/worker': {
    folders: ['src/rate', 'src/cluster', 'src/queue', 'src/datastore', 'src/operation', 'src/api', 'src'],
    packages: ['pino'],
  },
  'src/rate': { folders: ['src/rate/governor', 'src/cluster', 'src/api', 'src'], packages: [] },
  'src/rate/governor': { folders: ['src/api/limits', 'src/pace.ts'], packages: [] },
  'src/queue': { folders: ['src/datastore', 'src'], packages: ['bullmq', 'zod'] },
  'src/cluster': { folders: ['src/datastore', 'src'], packages: ['zod'] },
  'src/datastore': {
    folders: ['src'],
    packages: ['@electric-sql/pglite', 'bullmq', 'ioredis', 'tar', 'zod'],
  },
  'src/report': {
    folders: ['src/manifest', 'src/journal', 'src/operation', 'src'],
    packages: ['yazl', 'zod'],
  },
  'src/manifest': {
    folders: ['src/operation', 'src/api', 'src'],
    packages: ['csv-parse', 'hucre', 'lossless-json', 'zod'],
  },
  'src/journal': { folders: ['src'], packages: [] },
  'src/sandbox': {
    folders: ['src/clock.ts', 'src/duration.ts', 'src/errors.ts', 'src/json.ts'],
    packages: ['fastify', 'zod'],
  },
  jobs: { folders: ['src/operation', 'src/api/endpoints'], packages: [] },
  'src/index.ts': { folders: ['src/operation', 'src/api', 'src'], packages: [] },
  'src/operation': { folders: ['src/api', 'src'], packages: ['zod'] },
  'src/api': { folders: ['src'], packages: ['p-retry', 'undici', 'zod'] },
  src: { folders: [], packages: ['lossless-json', 'proper-lockfile', 'rolldown', 'zod'] },
};
