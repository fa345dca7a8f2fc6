import { isSea } from 'node:sea';
import { usageError } from '../../../errors.ts';

/** The parts of the official SDK that the server uses. */
export type Sdk = Awaited<ReturnType<typeof importSdk>>;

async function importSdk() {
  const [{ ProtocolError, ProtocolErrorCode, Server }, { StdioServerTransport }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/server/stdio'),
  ]);
  return { ProtocolError, ProtocolErrorCode, Server, StdioServerTransport };
}

/**
 * Loads the SDK, which the package does not contain.
 *
 * @throws a usage error `MCP_SDK_MISSING`
 */
export async function loadSdk(): Promise<Sdk> {
  try {
    return await importSdk();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const remedy = isSea()
      ? 'which the executable cannot load: install callquality-batch and the SDK with npm.'
      : 'beside callquality-batch: type "npm install -g @modelcontextprotocol/server@2", without -g in a project.';
    throw usageError(
      'MCP_SDK_MISSING',
      `cqbatch mcp needs the package @modelcontextprotocol/server, ${remedy}`,
      error,
    );
  }
}
