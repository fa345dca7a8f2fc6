import type { Server } from '@modelcontextprotocol/server';
import { readVersion } from '../../../package.ts';
import type { Flags } from '../../config/load.ts';
import { openWorkplace } from '../../context.ts';
import { knownError } from '../../exit-codes.ts';
import { notice, toolResult } from './data.ts';
import { listResources, readResource, resourceTemplates } from './resources.ts';
import type { Sdk } from './sdk.ts';
import type { Tool } from './tools.ts';

const instructions =
  'cqbatch calls an API once for each row of a manifest. These tools plan manifests, look at runs, and run plans that a person has approved. ' +
  `What they return is marked as data. ${notice}`;

/** A server with these tools, and the reports of runs as resources. */
export function makeServer(
  { ProtocolError, ProtocolErrorCode, Server }: Sdk,
  tools: readonly Tool[],
  flags: Flags,
): Server {
  const server = new Server(
    { name: 'cqbatch', version: readVersion() },
    { instructions, capabilities: { tools: {}, resources: {} } },
  );
  const store = async () => (await openWorkplace(flags)).store;
  server.setRequestHandler('tools/list', () => ({
    tools: tools.map(({ description }) => description),
  }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = tools.find(({ description }) => description.name === params.name);
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no tool of this name.');
    try {
      return toolResult(await tool.call(flags, params.arguments ?? {}));
    } catch (error) {
      const { code, message } = knownError(error) ?? { code: 'UNEXPECTED', message: String(error) };
      return toolResult({ error: { code, message } });
    }
  });
  server.setRequestHandler('resources/list', async () => ({
    resources: await listResources(await store()),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [...resourceTemplates],
  }));
  server.setRequestHandler('resources/read', async ({ params }) => readResource(await store(), params.uri));
  return server;
}
