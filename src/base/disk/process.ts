import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';

/** A process, by numbers that are unique on all machines that share the files. */
export const processSchema = z.object({
  pid: z.number(),
  host: z.string(),
  /** When the process started: distinguishes processes with the same number. Empty where the system has no such time. */
  started: z.string(),
});

export type ProcessId = z.infer<typeof processSchema>;

/** The host name is read once: another network may rename the machine, but not what this process has written. */
const ownHost = hostname();

export function thisProcess(): ProcessId {
  return { pid: process.pid, host: ownHost, started: readStat(process.pid)?.start ?? '' };
}

export function isSameProcess(one: ProcessId, other: ProcessId): boolean {
  return one.pid === other.pid && one.host === other.host && one.started === other.started;
}

export function isThisProcess(id: ProcessId): boolean {
  return isSameProcess(id, thisProcess());
}

/** Whether a process lives. Unknown under another host name: it may be another machine, or an earlier name of this one. */
export function stateOfProcess({ pid, host, started }: ProcessId): 'alive' | 'dead' | 'unknown' {
  if (host !== ownHost) return 'unknown';
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return 'dead';
  }
  const now = readStat(pid);
  if (now === undefined) return 'alive';
  return now.state !== 'Z' && (started === '' || now.start === started) ? 'alive' : 'dead';
}

/** An id of the system's last start, see random(4). Undefined where the system has none. */
export function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return undefined;
  }
}

/** When a process started, from fields 3 and 22 of /proc/[pid]/stat on Linux, see proc_pid_stat(5). */
function readStat(pid: number): { readonly state: string; readonly start: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command's name may contain blanks and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', start: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
