// @ts-check
import { readFileSync } from 'node:fs';

/**
 * Peak resident memory of this process so far, in MB (10^6 bytes). It comes from `/proc` where that exists: on Linux `maxRSS`
 * may be inherited from the parent.
 */
export function peakMemory() {
  try {
    const kibibytes = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    return (Number(kibibytes) * 1_024) / 1e6;
  } catch {
    return (process.resourceUsage().maxRSS * 1_024) / 1e6;
  }
}
