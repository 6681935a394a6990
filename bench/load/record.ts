import { randomUUID } from 'node:crypto';
import type { Service } from './service.ts';

const TURN_SECONDS = 5;
const TEXT = 'We looked at the offer again, and most of it suits us well.';

/** Inserts the record of a completed call of two people directly into the database. Returns its id. */
export async function writeCall({ db, vault, workspaceId, memberId }: Service, seconds: number): Promise<string> {
  const id = randomUUID();
  const turns = Array.from({ length: seconds / TURN_SECONDS }, (_, i) => ({
    ...{ id: i + 1, start: i * TURN_SECONDS, end: i * TURN_SECONDS + 4.5, speaker: `speaker_${(i % 2) + 1}`, text: TEXT },
  }));
  const seal = (place: string, value: unknown) => vault.seal(workspaceId, place, typeof value === 'string' ? value : JSON.stringify(value));
  const speakers = [1, 2].map((n) => ({ id: `speaker_${n}`, ai_name: null, name: null }));
  const values = [
    ...[id, workspaceId, memberId, memberId, await seal(`transcriptions|${id}|filename`, 'call.mp3')],
    ...[await seal(`transcriptions|${id}|speakers`, speakers), seconds],
  ];
  const words = turns.map(() => []);
  const blocks = [await seal(`segments|${id}:0|turns`, turns), await seal(`segments|${id}:0|words`, words)];
  await db.workspace(workspaceId, async (tx) => {
    await tx.rows(
      `insert into transcriptions (id, workspace_id, creator_id, author_id, filename_sealed, speakers_sealed, duration_seconds,
         author_email, status, extension, media_type, language, diarized)
       values (?, ?, ?, ?, ?, ?, ?, 'load@example.com', 'completed', 'mp3', 'audio', 'en', true)`,
      values,
    );
    await tx.rows('insert into segments (transcription_id, workspace_id, block, turns_sealed, words_sealed) values (?, ?, 0, ?, ?)', [
      ...[id, workspaceId],
      ...blocks,
    ]);
  });
  return id;
}
