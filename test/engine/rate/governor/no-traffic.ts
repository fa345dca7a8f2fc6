import type { Traffic } from '../../../../src/engine/rate/governor/traffic.ts';

/** What the governor is told where nothing was called. */
export const nothing: Traffic = { accepted: 0, rejected: 0, durationMs: 0, active: 0, stated: [] };
