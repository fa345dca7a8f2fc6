import { randomFor } from '../random.ts';
import type { Integer } from './integer.ts';
import type { Soundboard } from './soundboard.ts';
import { generatedTime } from './time.ts';

/** The soundboard entry of that seed and identifier: a WAV file of 8,000 bytes a second, its length in seconds. */
export function generateSoundboard(seed: number, id: Integer): Soundboard {
  const random = randomFor(seed, 'soundboard', id);
  const seconds = random.integer(2, 300);
  return {
    soundboard_id: id,
    file_name: `recording-${id}.wav`,
    file_type: 'RECORDING_FILE_TYPE_WAV',
    title: `Recording ${id}`,
    description: random.chance(0.5) ? `Played in queue ${random.integer(1, 30)}` : '',
    date_created: generatedTime(random),
    last_modified: generatedTime(random, 'later'),
    file_size: 44 + 8000 * seconds,
    recording_length: seconds,
  };
}
