import type { ManifestEnding } from '../../inbox/claimed-manifest.ts';
import type { FinalFolder } from '../../inbox/records.ts';
import { actualState } from '../../run/record/record.ts';
import { counted } from '../../text/quantities.ts';
import type { EndedRun } from './news.ts';
import { plain } from './style.ts';
import { indented, outcomeTexts } from './words.ts';

/** Reasons that are told. */
const toldCodes = 10;

/** Where a manifest belongs whose run has ended: what was done of it decides. */
export function finalFolderOf({ record, summary: { outcomes } }: EndedRun): FinalFolder {
  const { succeeded, duplicate, skipped, failed, invalid, not_attempted: notAttempted } = outcomes;
  if (actualState(record) === 'completed' && failed + invalid + notAttempted === 0) return 'done';
  return succeeded + duplicate + skipped > 0 ? 'partial' : 'failed';
}

/** What is put beside a manifest whose run has not done all of it, for people who see only the folder. */
export function endingText({ record, summary, next }: EndedRun, files: ManifestEnding['files'] = {}): string {
  const { id, manifest, options, states } = record;
  const reason = states.at(-1)?.reason;
  const codes = summary.codes
    .filter(({ outcome }) => outcome === 'failed' || outcome === 'invalid')
    .slice(0, toldCodes)
    .map(({ code, count, message, row }) => `${code}: ${counted(count, 'row')}; row ${row}: ${message}`);
  const fed = Object.keys(files);
  return [
    `${manifest.name} was run as ${id} on ${options.baseUrl}: ${actualState(record)}, ` +
      `${counted(summary.manifest.rows, 'row')}, ${outcomeTexts(summary.outcomes).map(plain).join(', ')}.`,
    ...(reason === undefined ? [] : [reason]),
    ...(codes.length === 0 ? [] : ['', 'Why:', indented(codes)]),
    ...(fed.length === 0
      ? []
      : [
          '',
          `The rows that were not done are beside it, to be mended and put in again: *${fed.join(', *')}`,
        ]),
    ...(next.length === 0 ? [] : ['', 'Next:', indented(next)]),
  ].join('\n');
}

/** How many went where, for people. */
export function inboxText(
  folders: readonly (FinalFolder | 'unfinished')[],
  growing: number,
  unusable: number,
): string {
  const written = growing === 0 ? '' : `; ${counted(growing, 'file', ['is', 'are'])} still being written`;
  const rest = unusable === 0 ? written : `${written}; ${counted(unusable, 'file')} can't be used`;
  if (folders.length === 0) return `No manifest waits${rest}.`;
  const kinds = (['done', 'partial', 'failed', 'unfinished'] as const).flatMap((folder) => {
    const number = folders.filter((each) => each === folder).length;
    return number === 0 ? [] : [`${number} ${folder}`];
  });
  return `${counted(folders.length, 'manifest')}: ${kinds.join(', ')}${rest}.`;
}
