import type { ApiClient, ClientOptions } from './client.ts';

/** Makes a client, whose code is loaded for it: what only looks at an API or a manifest needs none of it. */
export async function openClient(options: ClientOptions): Promise<ApiClient> {
  const { createClient } = await import('./client.ts');
  return createClient(options);
}
