import { choices } from './choice.ts';
import type { SandboxOptions } from './settings.ts';
import type { SwitchOptions } from './switches.ts';

export const defaultSwitches = {
  errorStyle: choices.errorStyle[0],
  integers: choices.integers[0],
  case: choices.case[0],
  omitted: choices.omitted[0],
  notDeletedStatus: choices.notDeletedStatus[0],
  retryAfter: choices.retryAfter[0],
  limitHeaders: choices.limitHeaders[0],
  limitStatus: choices.limitStatus[0],
  compress: choices.compress[0],
  latency: '0ms',
  limit: 'none',
  fault: 'none',
  slowBodyDelay: '5s',
  forbidden: false,
} as const satisfies Required<SwitchOptions>;

export const defaultOptions = {
  host: '127.0.0.1',
  port: 0,
  token: 'sandbox-token',
  evaluations: 1000,
  soundboards: 200,
  seed: 1,
  unrecoverable: '2%',
  notDeleted: '1%',
  logLimit: 1_000_000,
  logBody: choices.logBody[0],
  maxBody: 4 * 1024 * 1024,
} as const satisfies SandboxOptions;
