import { crc32, deflateSync } from 'node:zlib';

const mostColors = 256;

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue and opacity of each pixel, row by row. Opacity is ignored. */
  readonly rgba: Uint8Array;
}

/** A PNG with at most 256 colors, a third of the size of one with all. Rarer colors become the nearest frequent one. */
export function indexedPng({ width, height, rgba }: Pixels): Buffer {
  const counts = new Map<number, number>();
  const colors = Uint32Array.from({ length: width * height }, (_, pixel) => colorAt(rgba, pixel));
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1);
  const frequent = [...counts].toSorted(([, a], [, b]) => b - a).map(([color]) => color);
  const palette = frequent.slice(0, mostColors);
  const places = new Map(frequent.map((color) => [color, nearest(palette, color)]));
  const lines = Buffer.alloc((width + 1) * height);
  for (const [pixel, color] of colors.entries())
    lines[Math.floor(pixel / width) * (width + 1) + 1 + (pixel % width)] = places.get(color) ?? 0;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits for each pixel, with a palette.
  header.set([8, 3], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flatMap(partsOf))),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function colorAt(rgba: Uint8Array, pixel: number): number {
  const [red = 0, green = 0, blue = 0] = rgba.subarray(4 * pixel, 4 * pixel + 3);
  return (red << 16) | (green << 8) | blue;
}

function partsOf(color: number): readonly number[] {
  return [color >> 16, (color >> 8) & 255, color & 255];
}

function nearest(palette: readonly number[], color: number): number {
  const wanted = partsOf(color);
  const distances = palette.map((each) =>
    partsOf(each).reduce((sum, part, place) => sum + (part - (wanted[place] ?? 0)) ** 2, 0),
  );
  return distances.indexOf(Math.min(...distances));
}

function chunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), content]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(content.length, 0);
  ends.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)]);
}
