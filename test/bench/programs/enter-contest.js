// @ts-check
/**
 * Plays a contestant of `npm run bench:rate -- --contest` in real time, as a program of `--program`: its name, and for a fixed
 * rate the limit's calls per second, are arguments.
 */
import { contestants } from '../rate/contest/contestants.js';

const [name = '', perSecond = '50'] = process.argv.slice(2);
contestants[name]?.(Number(perSecond))(async () => {
  const answer = await fetch(process.env.BASE_URL ?? '', { method: 'POST' });
  await answer.arrayBuffer();
  return { status: answer.status, headers: Object.fromEntries(answer.headers) };
});
