/** Signatures of a ZIP archive (APPNOTE 4.3). */
const endOfDirectory = 0x06054b50;
const directoryEntry = 0x02014b50;
const endLength = 22;
const entryLength = 46;
const maxComment = 0xffff;

/**
 * How many bytes the members of a ZIP archive have when they are unpacked, as its directory says. Who unpacks them by what
 * the directory says needs no more memory than that.
 *
 * @returns undefined when the directory can't be read or leaves a size open.
 */
export function unpackedBytes(archive: Buffer): number | undefined {
  const end = findEnd(archive);
  if (end === undefined) return undefined;
  const entries = archive.readUInt16LE(end + 10);
  let offset = archive.readUInt32LE(end + 16);
  let total = 0;
  for (let entry = 0; entry < entries; entry++) {
    if (offset + entryLength > archive.length || archive.readUInt32LE(offset) !== directoryEntry)
      return undefined;
    const packed = archive.readUInt32LE(offset + 20);
    const unpacked = archive.readUInt32LE(offset + 24);
    if (unpacked === 0xffffffff || (unpacked === 0 && packed > 2)) return undefined;
    total += unpacked;
    const nameLength = archive.readUInt16LE(offset + 28);
    offset +=
      entryLength + nameLength + archive.readUInt16LE(offset + 30) + archive.readUInt16LE(offset + 32);
  }
  return total;
}

function findEnd(archive: Buffer): number | undefined {
  const last = archive.length - endLength;
  for (let offset = last; offset >= Math.max(0, last - maxComment); offset--) {
    if (archive.readUInt32LE(offset) === endOfDirectory) return offset;
  }
  return undefined;
}
