import { readdirSync, readlinkSync } from 'node:fs';

/** The files below a folder that this process has open, also those that have no name any more. */
export function openFilesBelow(folder: string): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`);
      return path.startsWith(`${folder}/`) ? [path] : [];
    } catch {
      // The descriptor of this very reading is closed by now.
      return [];
    }
  });
}
