/** Signatures of a ZIP archive (APPNOTE 4.3). */
const endOfDirectory = 0x06054b50;
const endOfDirectory64 = 0x06064b50;
const endLocator64 = 0x07064b50;
const directoryEntry = 0x02014b50;
const endLength = 22;
const endLength64 = 56;
const locatorLength = 20;
const entryLength = 46;
const maxComment = 0xffff;

/** Written where only a record of ZIP64 can hold the number. */
const zip64Number16 = 0xffff;
const zip64Number32 = 0xffffffff;
const extraOf64 = 1;

interface Directory {
  readonly offset: number;
  readonly entries: number;
}

/** The size of an unpacked archive by its directory; unpacking needs no more memory. Undefined without a readable size of each file. */
export function unpackedBytes(archive: Buffer): number | undefined {
  const directory = findDirectory(archive);
  if (directory === undefined) return undefined;
  let { offset } = directory;
  let total = 0;
  for (let entry = 0; entry < directory.entries; entry++) {
    if (offset + entryLength > archive.length || archive.readUInt32LE(offset) !== directoryEntry)
      return undefined;
    const nameLength = archive.readUInt16LE(offset + 28);
    const extraLength = archive.readUInt16LE(offset + 30);
    const extra = archive.subarray(offset + entryLength + nameLength).subarray(0, extraLength);
    const packed = archive.readUInt32LE(offset + 20);
    const size = archive.readUInt32LE(offset + 24);
    const unpacked = size === zip64Number32 ? firstNumberOf64(extra) : size;
    if (unpacked === undefined || (unpacked === 0 && packed > 2)) return undefined;
    total += unpacked;
    offset += entryLength + nameLength + extraLength + archive.readUInt16LE(offset + 32);
  }
  return total;
}

function findDirectory(archive: Buffer): Directory | undefined {
  const last = archive.length - endLength;
  for (let end = last; end >= Math.max(0, last - maxComment); end--) {
    if (archive.readUInt32LE(end) !== endOfDirectory) continue;
    const [entries, offset] = [archive.readUInt16LE(end + 10), archive.readUInt32LE(end + 16)];
    const isElsewhere = entries === zip64Number16 || offset === zip64Number32;
    return isElsewhere ? findDirectory64(archive, end - locatorLength) : { entries, offset };
  }
  return undefined;
}

/** Finds the directory of a ZIP64 archive (APPNOTE 4.3.14 and 4.3.15). */
function findDirectory64(archive: Buffer, locator: number): Directory | undefined {
  if (locator < 0 || archive.readUInt32LE(locator) !== endLocator64) return undefined;
  const end = Number(archive.readBigUInt64LE(locator + 8));
  if (end > archive.length - endLength64 || archive.readUInt32LE(end) !== endOfDirectory64) return undefined;
  return {
    entries: Number(archive.readBigUInt64LE(end + 32)),
    offset: Number(archive.readBigUInt64LE(end + 48)),
  };
}

/** The first number in the extra field of ZIP64 (APPNOTE 4.5.3): the unpacked size, if the entry does not have it. */
function firstNumberOf64(extra: Buffer): number | undefined {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) === extraOf64)
      return at + 12 > extra.length ? undefined : Number(extra.readBigUInt64LE(at + 4));
  }
  return undefined;
}
