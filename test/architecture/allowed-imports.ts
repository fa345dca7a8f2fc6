/** What the files of a folder may import besides each other and Node's modules. */
export interface Allowed {
  /** Folders and files. */
  readonly folders: readonly string[];
  readonly packages: readonly string[];
}

/** For each folder, the folders and files of `src` (and the jobs) that it may import, and the packages. */
const table: Readonly<Record<string, readonly [folders: string, packages: string]>> = {
  'src/build': ['engine/datastore base', '@electric-sql/pglite bullmq postject rolldown tar'],
  'src/cli': [
    `pages/server daemon library settings sandbox engine/run engine/worker engine/rate engine/cluster
      engine/datastore engine/report engine/list engine/manifest engine/rows engine/journal jobs
      engine/operation engine/api domain base`,
    'commander pino',
  ],
  'src/pages/browser': [
    `pages/server/page-data.ts pages/server/schedule-data.ts pages/server/needs.ts
      pages/server/start/draft.ts engine/report
      engine/run/facts/progress-words.ts engine/run/record/ending.ts engine/rows/row-kind.ts
      engine/operation/field-names.ts domain/terms.ts domain/attempts.ts
      domain/row-result.ts base/text`,
    'uplot',
  ],
  'src/pages/server': ['daemon engine/run engine/cluster engine/report domain base', 'fastify zod'],
  'src/daemon': [
    'settings engine/run engine/manifest engine/operation engine/api domain base',
    'croner fastify picomatch prom-client zod',
  ],
  'src/index.ts': ['library engine/run engine/report jobs engine/operation engine/api domain base', ''],
  'src/library': [
    `settings engine/run engine/datastore engine/report engine/list engine/rows engine/journal
      engine/operation engine/api domain base`,
    '',
  ],
  'src/settings': ['engine/run engine/cluster engine/manifest domain base', ''],
  'src/sandbox': ['base', 'zod'],
  'src/engine/run/work': [
    `engine/run/report engine/run/feed engine/run/plan engine/run/facts engine/run/record engine/worker engine/rate
      engine/cluster engine/datastore engine/report engine/list engine/rows engine/journal
      engine/operation engine/api domain base`,
    'zod',
  ],
  'src/engine/run/check': [
    'engine/run/report engine/run/plan engine/run/record engine/report engine/list engine/rows engine/operation domain base',
    '',
  ],
  'src/engine/run/verify': [
    'engine/run/report engine/run/record engine/report engine/journal domain base',
    'zod',
  ],
  'src/engine/run/report': [
    'engine/run/plan engine/run/facts engine/run/record engine/report engine/rows engine/journal engine/operation domain base',
    '',
  ],
  'src/engine/run/feed': [
    `engine/run/record engine/queue engine/cluster engine/datastore engine/list engine/rows engine/journal
      engine/operation domain base`,
    '',
  ],
  'src/engine/run/plan': [
    `engine/run/record engine/cluster engine/report engine/list engine/manifest engine/rows engine/journal
      engine/operation engine/api domain base`,
    'zod',
  ],
  'src/engine/run/facts': ['engine/run/record engine/cluster engine/report engine/journal domain base', ''],
  'src/engine/run/record': [
    `engine/queue engine/cluster engine/datastore engine/report engine/rows engine/journal engine/operation
      domain base`,
    'croner zod',
  ],
  'src/engine/worker': [
    'engine/rate engine/queue engine/cluster engine/datastore engine/rows engine/operation engine/api domain base',
    '',
  ],
  'src/engine/rate': ['engine/rate/governor engine/cluster engine/api domain base', ''],
  'src/engine/rate/governor': ['engine/api domain', ''],
  'src/engine/queue': ['engine/datastore engine/rows engine/journal domain base', 'bullmq'],
  'src/engine/cluster': ['engine/datastore domain base', 'zod'],
  'src/engine/datastore': ['domain base', '@electric-sql/pglite bullmq ioredis zod'],
  'src/engine/report': ['engine/rows engine/journal engine/operation domain base', 'hucre zod'],
  'src/engine/list': ['engine/manifest engine/rows engine/operation engine/api domain base', ''],
  'src/engine/manifest': ['engine/rows engine/operation domain base', 'csv-parse hucre lossless-json zod'],
  'src/engine/rows': ['engine/operation domain base', 'zod'],
  'src/engine/journal': ['domain base', 'zod'],
  jobs: ['engine/operation engine/api', 'zod'],
  'src/engine/operation': ['engine/api domain base', 'zod'],
  'src/engine/api': ['domain base', 'p-retry undici zod'],
  'src/domain': ['base', 'zod'],
  'src/base': ['', 'lossless-json proper-lockfile zod'],
};

const listed = (names: string): readonly string[] => names.split(/\s+/).filter(Boolean);

/**
 * What each folder may import. The entry with the longest name that holds a file counts.
 * No file imports from a folder above its own.
 */
export const allowedImports: Readonly<Record<string, Allowed>> = Object.fromEntries(
  Object.entries(table).map(([folder, [folders, packages]]) => [
    folder,
    {
      folders: listed(folders).map((name) => (name === 'jobs' ? name : `src/${name}`)),
      packages: listed(packages),
    },
  ]),
);
