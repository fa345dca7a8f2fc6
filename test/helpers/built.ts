/**
 * Loads a module of `src/` in its built form. Code that starts threads needs it, because a thread runs only JavaScript. The
 * type comes from the source: `built<typeof import('../../src/x.ts')>('x')`.
 */
export async function built<Module>(path: string): Promise<Module> {
  return (await import(new URL(`../../dist/src/${path}.js`, import.meta.url).href)) as Module;
}
