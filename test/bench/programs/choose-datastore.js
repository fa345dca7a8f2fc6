// @ts-check

/**
 * Opens the datastore for `executeRun`. Like the command, it loads only the modules of the chosen datastore: the memory of
 * others would be measured, too.
 *
 * @param {{ readonly stateDir: string, readonly queue?: string | undefined }} choice
 * @returns {Promise<Pick<import('../../../dist/src/engine/run/work/run-in-progress.js').ExecuteRunOptions, 'datastore' |
 *   'queue'>>}
 */
export async function chooseDatastore({ stateDir, queue }) {
  const purpose = 'benchmark';
  if (queue === undefined) {
    const { openEmbedded } = await import('../../../dist/src/engine/datastore/embedded/embedded.js');
    return { datastore: await openEmbedded({ stateDir, purpose }) };
  }
  const { openRedis } = await import('../../../dist/src/engine/datastore/redis/redis.js');
  return { queue, datastore: (await openRedis({ url: queue, purpose })).datastore };
}
