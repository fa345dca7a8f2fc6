import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'vitest';
import { brokenPromises, keysIn } from './check.ts';
import type { RoundResult } from './result.ts';
import { brokenByRetry } from './retry.ts';
import { inWords, type Scenario, scenarioOf } from './scenario.ts';
import { runId, setStage } from './stage.ts';
import { makeTrouble } from './troubles.ts';
import { User } from './user.ts';

const { CHAOS_SEED = '1', CHAOS_ROUND = '1', CHAOS_RESULT = '' } = process.env;

test('a round', async () => {
  const result = await play(scenarioOf(Number(CHAOS_SEED), Number(CHAOS_ROUND)));
  await writeFile(CHAOS_RESULT, JSON.stringify(result));
});

async function play(scenario: Scenario): Promise<RoundResult> {
  const since = performance.now();
  const stage = await setStage(scenario);
  const user = new User(stage);
  let isTroubled = true;
  const broken: string[] = [];
  const trouble = stage.sandbox
    .requested(1)
    .then(() => makeTrouble(user, scenario))
    .catch((error: Error) => broken.push(error.message))
    .finally(() => {
      isTroubled = false;
    });
  const hang = await user.untilEnd(() => isTroubled);
  await trouble;
  if (hang !== undefined) broken.push(hang, `Redis holds ${await keysIn(stage)}`);
  else {
    broken.push(...(await user.leave()));
    const report = await stage.start('report', runId).end;
    if (report.code !== 0) broken.push(`cqbatch report ends with ${report.code}: ${report.stderr}`);
    broken.push(...(await brokenPromises(stage)));
    if (scenario.retried) broken.push(...(await brokenByRetry(stage)));
  }
  const calls = (await stage.sandbox.log()).length;
  const seconds = Math.round((performance.now() - since) / 1_000);
  const end = `${(await stage.record())?.state}, ${calls} calls, ${stage.commands.length} commands, ${seconds} s`;
  if (broken.length > 0) await keep(stage);
  else await rm(stage.folder, { recursive: true, force: true, maxRetries: 5 });
  return {
    line: `${inWords(scenario)}; ${end}`,
    violations: broken,
    story: stage.story.lines,
    kept: stage.folder,
  };
}

/** Keeps everything that is not in the folder of the round anyway. */
async function keep(stage: Awaited<ReturnType<typeof setStage>>): Promise<void> {
  const said = join(stage.folder, 'said');
  for (const { words, process } of stage.commands)
    await writeFile(`${said}-${process.pid}.txt`, `${words}\n${process.stdout}\n${process.stderr}`);
  const log = await stage.sandbox.log();
  await writeFile(join(stage.folder, 'calls.jsonl'), log.map((entry) => JSON.stringify(entry)).join('\n'));
  if (stage.disk !== undefined) await cp(stage.stateDir, join(stage.folder, 'state'), { recursive: true });
  if (stage.redis !== undefined)
    await cp(stage.redis.folder, join(stage.folder, 'redis'), { recursive: true });
}
