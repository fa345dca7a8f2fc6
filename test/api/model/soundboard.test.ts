import { expect, test } from 'vitest';
import { soundboardSchema } from '../../../src/api/model/soundboard.ts';
import { parseJson } from '../../../src/json.ts';

test('a soundboard entry is read whole, in both spellings', () => {
  const snake = `{"soundboard_id":9223372036854775807,"file_name":"a.wav","file_type":"RECORDING_FILE_TYPE_WAV","title":"t",
    "description":"d","date_created":"c","last_modified":"m","file_size":"12","recording_length":3,"other":1}`;
  const camel = snake.replace(/_([a-z])(?=\w*":)/g, (_, letter: string) => letter.toUpperCase());
  for (const text of [snake, camel]) {
    expect(soundboardSchema.parse(parseJson(text))).toEqual({
      soundboardId: 9223372036854775807n,
      fileName: 'a.wav',
      fileType: 'RECORDING_FILE_TYPE_WAV',
      title: 't',
      description: 'd',
      dateCreated: 'c',
      lastModified: 'm',
      fileSize: 12n,
      recordingLength: 3n,
    });
  }
});
