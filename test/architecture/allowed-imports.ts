/** What the files of a folder may import besides each other and Node's modules. */
export interface Allowed {
  /** Folders and files. */
  readonly folders: readonly string[];
  readonly packages: readonly string[];
}

/**
 * The rooms that each room may import. The entry with the longest name that holds a file counts.
 * No file imports from a room above its own.
 */
export const allowedImports: Readonly<Record<string, Allowed>> = {
  'src/build': {
    folders: ['src/engine/datastore', 'src/base'],
    packages: ['@electric-sql/pglite', 'bullmq', 'postject', 'rolldown', 'tar'],
  },
  'src/cli': {
    folders: [
      'src/pages/server',
      'src/daemon',
      'src/library',
      'src/settings',
      'src/sandbox',
      'src/engine/run',
      'src/engine/worker',
      'src/engine/rate',
      'src/engine/cluster',
      'src/engine/datastore',
      'src/engine/report',
      'src/engine/manifest',
      'src/engine/rows',
      'src/engine/journal',
      'jobs',
      'src/engine/operation',
      'src/engine/api',
      'src/domain',
      'src/base',
    ],
    packages: ['commander', 'pino'],
  },
  'src/pages/browser': {
    folders: ['src/pages/server/page-data.ts', 'src/engine/report', 'src/domain/terms.ts', 'src/base/text'],
    packages: ['uplot'],
  },
  'src/pages/server': {
    folders: ['src/daemon', 'src/engine/run', 'src/engine/cluster', 'src/domain', 'src/base'],
    packages: ['fastify'],
  },
  'src/daemon': {
    folders: [
      'src/settings',
      'src/engine/run',
      'src/engine/operation',
      'src/engine/api',
      'src/domain',
      'src/base',
    ],
    packages: ['croner', 'fastify', 'picomatch', 'prom-client', 'zod'],
  },
  'src/index.ts': {
    folders: [
      'src/library',
      'src/engine/run',
      'src/engine/report',
      'jobs',
      'src/engine/operation',
      'src/engine/api',
      'src/domain',
      'src/base',
    ],
    packages: [],
  },
  'src/library': {
    folders: [
      'src/settings',
      'src/engine/run',
      'src/engine/datastore',
      'src/engine/report',
      'src/engine/rows',
      'src/engine/journal',
      'src/engine/operation',
      'src/engine/api',
      'src/domain',
      'src/base',
    ],
    packages: [],
  },
  'src/settings': {
    folders: ['src/engine/run', 'src/engine/cluster', 'src/engine/manifest', 'src/domain', 'src/base'],
    packages: [],
  },
  'src/sandbox': { folders: ['src/base'], packages: ['zod'] },
  'src/engine/run/session': {
    folders: [
      'src/engine/run/report',
      'src/engine/run/feed',
      'src/engine/run/plan',
      'src/engine/run/record',
      'src/engine/worker',
      'src/engine/rate',
      'src/engine/queue',
      'src/engine/cluster',
      'src/engine/datastore',
      'src/engine/report',
      'src/engine/rows',
      'src/engine/journal',
      'src/engine/api',
      'src/domain',
      'src/base',
    ],
    packages: ['zod'],
  },
  'src/engine/run/proof': {
    folders: [
      'src/engine/run/report',
      'src/engine/run/plan',
      'src/engine/run/record',
      'src/engine/report',
      'src/engine/journal',
      'src/domain',
      'src/base',
    ],
    packages: ['zod'],
  },
  'src/engine/run/report': {
    folders: [
      'src/engine/run/plan',
      'src/engine/run/record',
      'src/engine/report',
      'src/engine/rows',
      'src/engine/journal',
      'src/domain',
      'src/base',
    ],
    packages: [],
  },
  'src/engine/run/feed': {
    folders: [
      'src/engine/run/record',
      'src/engine/queue',
      'src/engine/cluster',
      'src/engine/datastore',
      'src/engine/rows',
      'src/engine/journal',
      'src/domain',
      'src/base',
    ],
    packages: [],
  },
  'src/engine/run/plan': {
    folders: [
      'src/engine/run/record',
      'src/engine/cluster',
      'src/engine/report',
      'src/engine/manifest',
      'src/engine/rows',
      'src/engine/journal',
      'src/engine/operation',
      'src/engine/api',
      'src/engine/signature',
      'src/domain',
      'src/base',
    ],
    packages: ['zod'],
  },
  'src/engine/run/record': {
    folders: [
      'src/engine/queue',
      'src/engine/cluster',
      'src/engine/datastore',
      'src/engine/report',
      'src/engine/rows',
      'src/engine/journal',
      'src/engine/operation',
      'src/domain',
      'src/base',
    ],
    packages: ['croner', 'zod'],
  },
  'src/engine/worker': {
    folders: [
      'src/engine/rate',
      'src/engine/queue',
      'src/engine/cluster',
      'src/engine/datastore',
      'src/engine/operation',
      'src/engine/api',
      'src/domain',
      'src/base',
    ],
    packages: [],
  },
  'src/engine/rate': {
    folders: ['src/engine/rate/governor', 'src/engine/cluster', 'src/engine/api', 'src/domain', 'src/base'],
    packages: [],
  },
  'src/engine/rate/governor': { folders: ['src/engine/api', 'src/domain'], packages: [] },
  'src/engine/queue': { folders: ['src/engine/datastore', 'src/domain', 'src/base'], packages: ['bullmq'] },
  'src/engine/cluster': { folders: ['src/engine/datastore', 'src/domain', 'src/base'], packages: ['zod'] },
  'src/engine/datastore': {
    folders: ['src/domain', 'src/base'],
    packages: ['@electric-sql/pglite', 'bullmq', 'ioredis', 'zod'],
  },
  'src/engine/report': {
    folders: ['src/engine/rows', 'src/engine/journal', 'src/engine/operation', 'src/domain', 'src/base'],
    packages: ['hucre', 'zod'],
  },
  'src/engine/manifest': {
    folders: ['src/engine/rows', 'src/engine/operation', 'src/domain', 'src/base'],
    packages: ['csv-parse', 'hucre', 'lossless-json', 'zod'],
  },
  'src/engine/rows': {
    folders: ['src/engine/operation', 'src/engine/api', 'src/domain', 'src/base'],
    packages: ['zod'],
  },
  'src/engine/journal': { folders: ['src/domain', 'src/base'], packages: ['zod'] },
  jobs: { folders: ['src/engine/operation', 'src/engine/api'], packages: [] },
  'src/engine/operation': { folders: ['src/engine/api', 'src/domain', 'src/base'], packages: ['zod'] },
  'src/engine/api': { folders: ['src/domain', 'src/base'], packages: ['p-retry', 'undici', 'zod'] },
  'src/engine/signature': { folders: ['src/base'], packages: [] },
  'src/domain': { folders: ['src/base'], packages: ['zod'] },
  'src/base': { folders: [], packages: ['lossless-json', 'proper-lockfile', 'zod'] },
};
