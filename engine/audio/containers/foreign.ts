import { isUtf8 } from 'node:buffer';
import { open } from 'node:fs/promises';

const HEAD_BYTES = 4096;
const OGG = 'OggS';
const FIRST_PAGE = 2; // flag of the first page of a stream, in byte 5
const UNPACK = 'Upload the recording that is in it';
const DOWNLOAD = 'Upload the recording itself';

/** First bytes of what people take for recordings. */
const SIGNATURES: [magic: string, what: string, remedy: string][] = [
  ['\x1f\x8b', 'it is compressed with gzip', UNPACK],
  ['PK\x03\x04', 'it is a ZIP archive or an office document', UNPACK],
  ['7z\xbc\xaf\x27\x1c', 'it is a 7z archive', UNPACK],
  ['Rar!\x1a\x07', 'it is a RAR archive', UNPACK],
  ['BZh', 'it is compressed with bzip2', UNPACK],
  ['\xfd7zXZ\0', 'it is compressed with xz', UNPACK],
  ['\x28\xb5\x2f\xfd', 'it is compressed with Zstandard', UNPACK],
  ['%PDF-', 'it is a PDF document', DOWNLOAD],
  ['\x89PNG\r\n', 'it is a picture', DOWNLOAD],
  ['\xff\xd8\xff', 'it is a picture', DOWNLOAD],
  ['GIF8', 'it is a picture', DOWNLOAD],
  ['SQLite format 3\0', 'it is a database', DOWNLOAD],
];

/** Kinds of text. */
const TEXTS: [pattern: RegExp, what: string, remedy: string][] = [
  [/^\s*<(?:!doctype|html|head|body)/i, 'it is a web page, as links give that need a sign-in', DOWNLOAD],
  [/^#EXTM3U|^ffconcat|^\[playlist\]/i, 'it is a playlist', 'Upload the recording that it names'],
  [/^\s*[[{]/, 'it is JSON, perhaps an error message of a server', DOWNLOAD],
  [/^\s*<\?xml/i, 'it is XML, perhaps an error message of a server', DOWNLOAD],
  [/^(?:data:[^,]{1,99},)?[\w+/=\r\n-]{99,}$/, 'it is text in base64', 'Decode it before the upload'],
  [/^/, 'it is text', DOWNLOAD],
];

/** Description of a file that cannot be read as media, and of what to do, as the rest of a sentence and another one. Null if it may be media. */
export async function foreign(path: string): Promise<string | null> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return foreignIn(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

function foreignIn(head: Buffer): string | null {
  const characters = head.toString('latin1');
  if (!head.length) return 'it is empty. Upload it again';
  if (/^\0*$/.test(characters)) return 'it begins with nothing but zeros, as a download that was broken off. Upload it again';
  if (characters.startsWith(OGG) && !(head[5]! & FIRST_PAGE)) return 'its beginning is missing. Upload it again';
  const known =
    SIGNATURES.find(([magic]) => characters.startsWith(magic)) ?? (isText(head) ? TEXTS.find(([kind]) => kind.test(characters)) : null);
  return known ? `${known[1]}. ${known[2]}` : null;
}

/** Whether bytes are UTF-8 without control characters; the last character may be cut off. */
function isText(bytes: Buffer): boolean {
  const whole = [0, 1, 2, 3].some((cut) => isUtf8(bytes.subarray(0, bytes.length - cut)));
  return whole && !/[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(bytes.toString('latin1'));
}
