import type { ApiClient, ClientOptions } from './client.ts';

/** Makes a client, and loads its code only then: commands that only look at an API or a manifest do not need it. */
export async function openClient(options: ClientOptions): Promise<ApiClient> {
  const { createClient } = await import('./client.ts');
  return createClient(options);
}
