import { z } from 'zod';
import type { Wish } from '../../../db/transcripts/correct.ts';
import { correct, listChanges } from '../../../db/transcripts/corrections.ts';
import { notFound } from '../../contract/errors.ts';
import { LIMITS } from '../../contract/limits.ts';
import { json, jsonText } from '../../http/route.ts';
import { page } from '../page.ts';

/** On one line, without controls. */
const line = (most: number) =>
  z
    .string()
    .transform((text) =>
      text
        .replace(/[\s\u0085\u2028\u2029]+/g, ' ')
        .replace(/[\u0000-\u001f\u007f-\u009f]/g, '')
        .trim(),
    )
    .pipe(z.string().max(most));

const Segment = z.strictObject({
  id: z.int(),
  text: line(LIMITS.SEGMENT_CHARACTERS).pipe(z.string().min(1)).optional(),
  speaker_id: z.string().optional(),
});

const Segments = z
  .array(Segment)
  .max(LIMITS.CORRECTED_SEGMENTS)
  .refine((segments) => new Set(segments.map(({ id }) => id)).size === segments.length, 'must name each segment once')
  .refine(
    (segments) => segments.reduce((sum, { text = '' }) => sum + text.length, 0) <= LIMITS.CORRECTION_CHARACTERS,
    `must have at most ${LIMITS.CORRECTION_CHARACTERS} characters of text together`,
  );

const Corrections = z
  .strictObject({
    version: z.int().min(0).optional(),
    title: line(500).nullable().optional(),
    segments: Segments.optional(),
    merge: z
      .strictObject({ speaker_id: z.string(), into: z.string() })
      .refine(({ speaker_id, into }) => speaker_id !== into, 'must be two speakers')
      .optional(),
    undo: z.int().optional(),
  })
  .refine(({ version: _, ...wanted }) => Object.values(wanted).some((value) => value !== undefined), 'must correct something');

/**
 * Corrects title, text and speakers; answers with the record. `version` (or If-Match) is the newest change that the person has seen; without one, none. Where somebody
 * else changed the same place since then, 409 says what they did.
 */
export const correctText = page({
  method: 'PATCH',
  path: '/transcriptions/{id}/text',
  body: Corrections,
  async handler(context, actor) {
    const { db, vault, params, records, request } = context;
    const { version, undo, ...wanted } = await context.body();
    const matched = Number(/^"?(\d+)"?$/.exec(request.headers.get('if-match') ?? '')?.[1] ?? 0);
    const corrections = { version: version ?? matched, wishes: wishesOf(wanted), undo };
    await db.workspace(actor.workspaceId, (tx) => correct(tx, vault, actor, params.id!, corrections));
    records.forget(actor.workspaceId, params.id!);
    const served = await records.find(actor, params.id!, false);
    if (!served) throw notFound(); // deleted since
    return jsonText(200, served.body.toString(), { etag: served.etag });
  },
});

function wishesOf({ title, segments = [], merge }: Omit<z.output<typeof Corrections>, 'version' | 'undo'>): Wish[] {
  const wishes: Wish[] = title === undefined ? [] : [{ kind: 'title', title: title || null }];
  for (const { id, text, speaker_id } of segments) {
    if (text !== undefined) wishes.push({ kind: 'text', segment: id, text });
    if (speaker_id !== undefined) wishes.push({ kind: 'speaker', segments: [id], speaker: speaker_id });
  }
  if (merge) wishes.push({ kind: 'speaker', segments: [], speaker: merge.into, from: merge.speaker_id, merges: true });
  return wishes;
}

/** Corrections, newest first, with the version that the next one must be based on. */
export const changes = page({
  method: 'GET',
  path: '/transcriptions/{id}/changes',
  async handler({ db, vault, params }, actor) {
    return json(200, await db.workspace(actor.workspaceId, (tx) => listChanges(tx, vault, actor, params.id!)));
  },
});
