import { isSea } from 'node:sea';
import { usageError } from '../../../errors.ts';

/** The parts of the official SDK that the server uses. */
export type Sdk = Awaited<ReturnType<typeof importSdk>>;

async function importSdk() {
  const [{ Server }, { StdioServerTransport }, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/index.js'),
    import('@modelcontextprotocol/sdk/server/stdio.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  return { Server, StdioServerTransport, types };
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
      : 'beside callquality-batch: type "npm install -g @modelcontextprotocol/sdk@1", without -g in a project.';
    throw usageError(
      'MCP_SDK_MISSING',
      `cqbatch mcp needs the package @modelcontextprotocol/sdk, ${remedy}`,
      error,
    );
  }
}
