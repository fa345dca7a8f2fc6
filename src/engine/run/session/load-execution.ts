/** Loads the code that executes a run, for example while the datastore opens. */
export async function loadExecution() {
  const { executeRun } = await import('./execute-run.ts');
  return executeRun;
}
