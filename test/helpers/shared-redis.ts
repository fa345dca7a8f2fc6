import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A Redis for tests that are about something else; see `any-datastore.ts`. */
    sharedRedis: string;
  }
}

/** Starts one Redis for all tests, if this machine has one. */
export default async function shareRedis(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  // Imported only now: it may have been installed a moment ago.
  const { redisProgram, startRedis } = await import('./redis-server.ts');
  if (redisProgram === undefined) return undefined;
  const server = await startRedis({ args: ['--appendonly', 'yes'] });
  project.provide('sharedRedis', server.url);
  return () => server.stop();
}
