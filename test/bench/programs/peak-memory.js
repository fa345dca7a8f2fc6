// @ts-check
import { readFileSync } from 'node:fs';

/**
 * Peak resident memory of this process so far, in MB (10^6 bytes). Where there is `/proc` it comes from there: on Linux
 * `maxRSS` may be that of the parent, from which a process inherits it.
 */
export function peakMemory() {
  try {
    const kibibytes = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    return (Number(kibibytes) * 1_024) / 1e6;
  } catch {
    return (process.resourceUsage().maxRSS * 1_024) / 1e6;
  }
}
