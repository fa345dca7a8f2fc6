/** Loads what takes a run to its end, which may be done while its datastore opens. */
export async function loadExecution() {
  const { executeRun } = await import('./execute-run.ts');
  return executeRun;
}
