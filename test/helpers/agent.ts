import { type CallToolResult, Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import { type CommandOptions, command } from './cqbatch.ts';

/** A client of `cqbatch mcp`, as an agent has it. */
export interface Agent {
  readonly client: Client;
  /** The document that a tool returns. @throws when the tool fails */
  use(tool: string, given?: object): Promise<Record<string, unknown>>;
  /** The error of a tool that fails. */
  refused(tool: string, given?: object): Promise<{ readonly code: string; readonly message: string }>;
  /** All that a tool returns. */
  call(tool: string, given?: object): Promise<CallToolResult>;
}

/** Starts `cqbatch mcp` and connects to it, until the test ends. */
export async function startAgent(
  { cwd, env }: Pick<CommandOptions, 'cwd' | 'env'>,
  ...flags: readonly string[]
): Promise<Agent> {
  const [program = '', ...args] = [...command, 'mcp', ...flags];
  const { PATH = '', HOME = '' } = process.env;
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(() => client.close());
  await client.connect(
    new StdioClientTransport({ command: program, args, cwd, env: { PATH, HOME, ...env } }),
  );
  const call = (name: string, given: object = {}) => client.callTool({ name, arguments: { ...given } });
  return {
    client,
    call,
    async use(tool, given) {
      const { structuredContent = {}, isError } = await call(tool, given);
      if (isError) throw new Error(`${tool}: ${JSON.stringify(structuredContent)}`);
      return structuredContent as Record<string, unknown>;
    },
    async refused(tool, given) {
      const { structuredContent = {}, isError } = await call(tool, given);
      if (!isError) throw new Error(`${tool} has worked: ${JSON.stringify(structuredContent)}`);
      return (structuredContent as { error: { code: string; message: string } }).error;
    },
  };
}
