import { isUtf8 } from 'node:buffer';
import { open } from 'node:fs/promises';

const HEAD_BYTES = 4096;
const OGG = 'OggS';
const FIRST_PAGE = 2; // flag of the first page of a stream, in byte 5
const UNPACK = 'Upload the recording that is in it';
const DOWNLOAD = 'Upload the recording itself';
const CONVERT = 'Convert it, for example to WAV';

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

/** First bytes of recordings in formats that are not supported, under whatever name: messengers call SILK .amr. */
const RECORDINGS: [magic: string, what: string][] = [
  ['#!SILK_V3', 'it is a voice message in SILK, as of WeChat or QQ'],
  ['\x02#!SILK_V3', 'it is a voice message in SILK, as of WeChat or QQ'],
  ['\x02dss', 'it is a dictation in DSS'],
  ['\x03ds2', 'it is a dictation in DS2'],
  ['MS_VOICE', 'it is a recording in DVF or MSV, of a Sony recorder'],
  ['NIST_1A\n', 'it is a recording in NIST SPHERE'],
  ['DSD ', 'it is music in DSF'],
  ['MPCK', 'it is music in Musepack'],
  ['MThd', 'it is MIDI, which has notes and no sound'],
];
const TAPE = { at: 257, magic: 'ustar' }; // of a tar archive

/** Kinds of text. */
const TEXTS: [pattern: RegExp, what: string, remedy: string][] = [
  [/^\s*<(?:!doctype|html|head|body)/i, 'it is a web page, as links give that need a sign-in', DOWNLOAD],
  [/^#EXTM3U|^ffconcat|^\[playlist\]/i, 'it is a playlist', 'Upload the recording that it names'],
  [/^\s*[[{]/, 'it is JSON, perhaps an error message of a server', DOWNLOAD],
  [/^\s*<\?xml/i, 'it is XML, perhaps an error message of a server', DOWNLOAD],
  [/^(?:data:[^,]{1,99},)?[\w+/=\r\n-]{99,}$/, 'it is text in base64', 'Decode it before the upload'],
  [/^/, 'it is text', DOWNLOAD],
];

/** A file that cannot be read as media. */
export interface Foreign {
  /** Description, and what to do, as the rest of a sentence and another one. */
  message: string;
  /** A recording, in a format that is not supported. */
  recording: boolean;
}

/** Recognises a file that cannot be read as media. Null if it may be media. */
export async function foreign(path: string): Promise<Foreign | null> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return foreignIn(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

function foreignIn(head: Buffer): Foreign | null {
  const characters = head.toString('latin1');
  const format = RECORDINGS.find(([magic]) => characters.startsWith(magic));
  if (format) return { message: `${format[1]}. ${CONVERT}`, recording: true };
  const message = nothingOf(head, characters) ?? otherOf(head, characters);
  return message ? { message, recording: false } : null;
}

/** Description of a file that is damaged beyond recognition. */
function nothingOf(head: Buffer, characters: string): string | null {
  if (!head.length) return 'it is empty. Upload it again';
  if (/^\0*$/.test(characters)) return 'it begins with nothing but zeros, as a download that was broken off. Upload it again';
  if (characters.startsWith(OGG) && !(head[5]! & FIRST_PAGE)) return 'its beginning is missing. Upload it again';
  return null;
}

/** Description of a file that is something else. */
function otherOf(head: Buffer, characters: string): string | null {
  if (characters.startsWith(TAPE.magic, TAPE.at)) return `it is a tar archive. ${UNPACK}`;
  const known =
    SIGNATURES.find(([magic]) => characters.startsWith(magic)) ?? (isText(head) ? TEXTS.find(([kind]) => kind.test(characters)) : null);
  return known ? `${known[1]}. ${known[2]}` : null;
}

/** Whether bytes are UTF-8 without control characters; the last character may be cut off. */
function isText(bytes: Buffer): boolean {
  const whole = [0, 1, 2, 3].some((cut) => isUtf8(bytes.subarray(0, bytes.length - cut)));
  return whole && !/[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(bytes.toString('latin1'));
}
