type Kind = 'audio' | 'video';

/** The beginning of a container, from byte `at`, and its media type, or the types of sound alone and of a picture. */
const CONTAINERS: readonly { at: number; magic: RegExp; type: string | readonly [audio: string, video: string] }[] = [
  { at: 0, magic: /^(RIFF|RF64|BW64)[\s\S]{4}WAVE/, type: 'audio/wav' },
  { at: 0, magic: /^RIFF[\s\S]{4}AVI /, type: 'video/x-msvideo' },
  { at: 0, magic: /^OggS/, type: ['audio/ogg', 'video/ogg'] },
  { at: 0, magic: /^fLaC/, type: 'audio/flac' },
  { at: 4, magic: /^ftypqt|^(moov|mdat|wide|free|skip)/, type: 'video/quicktime' },
  { at: 4, magic: /^ftyp3g2/, type: ['audio/3gpp2', 'video/3gpp2'] },
  { at: 4, magic: /^ftyp3g/, type: ['audio/3gpp', 'video/3gpp'] },
  { at: 4, magic: /^ftyp/, type: ['audio/mp4', 'video/mp4'] },
  { at: 0, magic: /^\x1a\x45\xdf\xa3[\s\S]{0,60}webm/, type: ['audio/webm', 'video/webm'] },
  { at: 0, magic: /^\x1a\x45\xdf\xa3/, type: ['audio/x-matroska', 'video/x-matroska'] },
  { at: 0, magic: /^FORM[\s\S]{4}AIF[FC]/, type: 'audio/aiff' },
  { at: 0, magic: /^\.snd/, type: 'audio/basic' },
  { at: 0, magic: /^caff/, type: 'audio/x-caf' },
  { at: 0, magic: /^#!AMR-WB/, type: 'audio/amr-wb' },
  { at: 0, magic: /^#!AMR/, type: 'audio/amr' },
  { at: 0, magic: /^\x30\x26\xb2\x75/, type: ['audio/x-ms-wma', 'video/x-ms-wmv'] },
  { at: 0, magic: /^FLV/, type: 'video/x-flv' },
  { at: 0, magic: /^\x00\x00\x01[\xb3\xba]/, type: 'video/mpeg' },
  { at: 0, magic: /^G[\s\S]{187}G/, type: 'video/mp2t' },
  { at: 0, magic: /^\x0b\x77/, type: 'audio/ac3' },
  { at: 0, magic: /^\xff[\xf0\xf1\xf8\xf9]/, type: 'audio/aac' },
  { at: 0, magic: /^ID3|^\xff[\xe2-\xef\xf2-\xf7\xfa-\xff]/, type: 'audio/mpeg' },
];
const UNKNOWN = 'application/octet-stream';

export const HEAD_BYTES = 512;

/** Every type that `mediaTypeOf` can return. */
export const MEDIA_TYPES: readonly string[] = [...new Set([...CONTAINERS.flatMap(({ type }) => type), UNKNOWN])];

/** The media type of a recording by its first bytes; its name may be wrong. */
export function mediaTypeOf(head: Uint8Array, kind: Kind | null): string {
  const text = Buffer.from(head).toString('latin1');
  const type = CONTAINERS.find(({ at, magic }) => magic.test(text.slice(at)))?.type ?? UNKNOWN;
  return typeof type === 'string' ? type : type[kind === 'video' ? 1 : 0];
}
