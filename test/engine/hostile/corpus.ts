/** Attack files that are assembled byte by byte, because no encoder writes them. */

const u16 = (value: number) => Buffer.from([(value >> 8) & 255, value & 255]);
const u32 = (value: number) => Buffer.from([(value >>> 24) & 255, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]);
const le32 = (value: number) => u32(value).reverse();

/** One MP4 or QuickTime box. */
export function box(type: string, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(body.length + 8), Buffer.from(type, 'latin1'), body]);
}

/** An HLS playlist with one segment. */
export function hls(target: string): string {
  return `#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:3.0,\n${target}\n#EXT-X-ENDLIST\n`;
}

export function ffconcat(target: string): string {
  return `ffconcat version 1.0\nfile '${target}'\n`;
}

export function dash(target: string): string {
  return `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT3S"
 profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="audio/mp4"><Representation id="0"
 bandwidth="64000" codecs="mp4a.40.2"><BaseURL>${target}</BaseURL></Representation></AdaptationSet></Period></MPD>`;
}

/** A composition playlist of the Interoperable Master Format: its reader opens ASSETMAP.xml beside it. */
export function imf(): string {
  const id = 'urn:uuid:6ae100b0-92d1-41be-9321-85e0933dfc42';
  return `<?xml version="1.0"?><CompositionPlaylist xmlns="http://www.smpte-ra.org/schemas/2067-3/2016"><Id>${id}</Id>
<ContentTitle>x</ContentTitle><EditRate>24 1</EditRate><SegmentList></SegmentList></CompositionPlaylist>`;
}

export function sdp(port: number): string {
  return `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio ${port} RTP/AVP 0\n`;
}

/**
 * A QuickTime file whose media data is in another file of the same folder (an alias record in `dref`).
 * `mov` is a valid file with its `moov` at the end.
 */
export function externalDref(mov: Buffer, name: string): Buffer {
  const path = Buffer.from(`/${name}${name.length % 2 ? '' : '\0'}`, 'latin1');
  const pascal = (text: string, size: number) =>
    Buffer.concat([Buffer.from([text.length]), Buffer.from(text.padEnd(size, '\0'), 'latin1')]);
  const alias = Buffer.concat([
    Buffer.alloc(10),
    pascal('v', 27),
    Buffer.alloc(12),
    pascal(name, 63),
    Buffer.alloc(16),
    u16(1),
    u16(1),
    Buffer.alloc(16),
    u16(2),
    u16(path.length),
    path,
    u16(0xffff),
    u16(0),
    Buffer.alloc(40),
  ]);
  const dref = box('dref', u32(0), u32(1), box('alis', u32(0), alias));
  return rebuilt(mov, (type) => (type === 'dref' ? dref : null));
}

const PARENTS = new Set(['moov', 'trak', 'mdia', 'minf', 'dinf', 'stbl']);

/** Rebuilds the boxes of a file, some replaced. */
function rebuilt(bytes: Buffer, replace: (type: string) => Buffer | null): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const size = bytes.readUInt32BE(at) || bytes.length - at;
    const type = bytes.toString('latin1', at + 4, at + 8);
    const body = bytes.subarray(at + 8, at + size);
    parts.push(replace(type) ?? (PARENTS.has(type) ? box(type, rebuilt(body, replace)) : bytes.subarray(at, at + size)));
    at += size;
  }
  return Buffer.concat(parts);
}

/** An AVI file with a subtitle stream in the GAB2 form, whose text is a playlist (CVE-2016-1897 and its successors). */
export function aviGab2(playlist: string): Buffer {
  const chunk = (id: string, ...parts: Uint8Array[]) => {
    const body = Buffer.concat(parts);
    return Buffer.concat([Buffer.from(id, 'latin1'), le32(body.length), body, Buffer.alloc(body.length % 2)]);
  };
  const text = Buffer.from(playlist);
  const name = Buffer.from('a\0\0\0', 'latin1');
  const gab2 = Buffer.concat([
    Buffer.from('GAB2\0\x02\0', 'latin1'),
    le32(name.length),
    name,
    Buffer.from([4, 0]),
    le32(text.length),
    text,
  ]);
  const avih = chunk('avih', le32(40_000), Buffer.alloc(12), le32(1), le32(0), le32(1), Buffer.alloc(28));
  const strh = chunk(
    'strh',
    Buffer.from('txts\0\0\0\0', 'latin1'),
    Buffer.alloc(12),
    le32(1),
    le32(25),
    le32(0),
    le32(1),
    Buffer.alloc(20),
  );
  const hdrl = chunk('LIST', Buffer.from('hdrl'), avih, chunk('LIST', Buffer.from('strl'), strh, chunk('strf', Buffer.alloc(0))));
  const movi = chunk('LIST', Buffer.from('movi'), chunk('00tx', gab2), chunk('00tx', gab2));
  return chunk('RIFF', Buffer.from('AVI '), hdrl, movi);
}

/** Boxes of length 0, of the minimum length, of 64-bit length 0, extending beyond the end, and deeply nested ones. */
export function oddAtoms(): Record<string, Buffer> {
  const ftyp = box('ftyp', Buffer.from('isom\0\0\0\0isom', 'latin1'));
  const sized = (type: string, size: number) => Buffer.concat([u32(size), Buffer.from(type, 'latin1')]);
  let deep: Buffer = Buffer.alloc(0);
  for (let i = 0; i < 3000; i++) deep = box(i % 2 ? 'moov' : 'trak', deep);
  const many = Buffer.concat(Array.from({ length: 100_000 }, () => box('free')));
  return {
    'zero.mp4': Buffer.concat([ftyp, sized('moov', 0), sized('trak', 0), sized('mdat', 0), Buffer.alloc(2000)]),
    'one.mov': Buffer.concat([ftyp, ...Array.from({ length: 200 }, () => Buffer.concat([sized('free', 1), Buffer.alloc(8)]))]),
    'beyond.m4a': Buffer.concat([ftyp, sized('moov', 0x7fffffff), sized('mvhd', 0xffffffff), Buffer.alloc(2000, 1)]),
    'tables.3gp': Buffer.concat([ftyp, hugeTables()]),
    'deep.mp4': Buffer.concat([ftyp, deep]),
    'many.m4v': Buffer.concat([ftyp, many]),
  };
}

/** A track whose tables declare 2e9 entries. */
function hugeTables(): Buffer {
  const claim = (type: string, ...before: Uint8Array[]) => box(type, u32(0), ...before, u32(0x7ffffff0), Buffer.alloc(64));
  const stbl = box('stbl', claim('stts'), claim('stsc'), claim('stsz', u32(0)), claim('stco'), claim('ctts'));
  return box('moov', box('trak', box('mdia', box('minf', stbl))));
}

/** A ZIP archive with one stored entry. */
export function storedZip(name: string, body: Buffer): Buffer {
  const le16 = (value: number) => u16(value).reverse();
  const fields = [le16(10), le16(0), le16(0), le32(0), le32(0), le32(body.length), le32(body.length), le16(name.length)];
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), ...fields, le16(0), Buffer.from(name), body]);
  const central = Buffer.concat([Buffer.from('PK\x01\x02'), le16(10), ...fields, Buffer.alloc(14), le32(0), Buffer.from(name)]);
  const end = Buffer.concat([
    Buffer.from('PK\x05\x06'),
    Buffer.alloc(4),
    le16(1),
    le16(1),
    le32(central.length),
    le32(local.length),
    le16(0),
  ]);
  return Buffer.concat([local, central, end]);
}

/** A WAVE file with arbitrary declared sizes. */
export function wav({ rate, channels = 1, bits = 16, data }: { rate: number; channels?: number; bits?: number; data: Uint8Array }): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF\0\0\0\0WAVEfmt ', 'latin1');
  head.writeUInt32LE(36 + data.length, 4);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE((rate * channels * (bits / 8)) >>> 0, 28);
  head.writeUInt16LE((channels * (bits / 8)) & 0xffff, 32);
  head.writeUInt16LE(bits, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}
