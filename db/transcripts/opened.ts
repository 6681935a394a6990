import { NEXT_CHANGE } from '../postgres/expressions.ts';
import type { Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import type { StoredSpeaker } from './list-row.ts';
import type { Held } from './mutate.ts';
import type { StoredWord } from './retime.ts';

/* SQL: the row is already locked; segments are encrypted in blocks. */

export interface StoredTurn {
  id: number;
  start: number;
  end: number;
  speaker: string | null;
  text: string;
}

interface Block {
  number: number;
  turns: StoredTurn[];
  words: StoredWord[][] | null;
  changed: boolean;
}

/** A locked transcript, decrypted for corrections; `save` encrypts and writes what changed. */
export interface OpenTranscript {
  title: string | null;
  speakers: StoredSpeaker[];
  readonly blocks: Block[];
  turns(): StoredTurn[];
  /** The turn with its words, which are decrypted on demand; null: there is none. */
  turn(id: number): Promise<{ turn: StoredTurn; block: Block; index: number } | null>;
  save(): Promise<void>;
}

export async function openTranscript(tx: Tx, vault: Vault, { workspaceId, id }: Held): Promise<OpenTranscript> {
  const place = (column: string) => `transcriptions|${id}|${column}`;
  const row = (await tx.row<{ title_sealed: Buffer | null; speakers_sealed: Buffer | null }>(
    'select title_sealed, speakers_sealed from transcriptions where workspace_id = ? and id = ?',
    [workspaceId, id],
  ))!;
  const sealed = await tx.rows<{ block: number; turns_sealed: Buffer }>(
    'select block, turns_sealed from segments where workspace_id = ? and transcription_id = ? order by block',
    [workspaceId, id],
  );
  const open = async (block: number, column: string, value: Buffer) =>
    JSON.parse((await vault.open(workspaceId, `segments|${id}:${block}|${column}`, value)).toString());
  const title = await vault.text(workspaceId, place('title'), row.title_sealed);
  const speakers = (await vault.text(workspaceId, place('speakers'), row.speakers_sealed)) ?? '[]';
  const blocks: Block[] = await Promise.all(
    sealed.map(async ({ block, turns_sealed }) => ({
      number: block,
      turns: await open(block, 'turns', turns_sealed),
      words: null,
      changed: false,
    })),
  );
  const opened: OpenTranscript = {
    title,
    speakers: JSON.parse(speakers),
    blocks,
    turns: () => blocks.flatMap((block) => block.turns),
    async turn(wanted) {
      const block = blocks.find(({ turns }) => turns.some((turn) => turn.id === wanted));
      if (!block) return null;
      if (!block.words) {
        const words = await tx.row<{ words_sealed: Buffer }>(
          'select words_sealed from segments where workspace_id = ? and transcription_id = ? and block = ?',
          [workspaceId, id, block.number],
        );
        block.words = await open(block.number, 'words', words!.words_sealed);
      }
      const index = block.turns.findIndex((turn) => turn.id === wanted);
      return { turn: block.turns[index]!, block, index };
    },
    async save() {
      const seal = (at: string, value: string | null) => (value === null ? null : vault.seal(workspaceId, at, value));
      const now = JSON.stringify(opened.speakers);
      const titles = opened.title === title ? row.title_sealed : await seal(place('title'), opened.title);
      const names = now === speakers ? row.speakers_sealed : await seal(place('speakers'), now);
      await tx.rows(
        `update transcriptions t set title_sealed = ?, speakers_sealed = ?, updated_at = ${NEXT_CHANGE} where t.workspace_id = ? and t.id = ?`,
        [titles, names, workspaceId, id],
      );
      for (const { number, turns, words } of blocks.filter(({ changed }) => changed)) {
        const at = `segments|${id}:${number}`;
        await tx.rows(
          `update segments set turns_sealed = ?, words_sealed = coalesce(?, words_sealed)
           where workspace_id = ? and transcription_id = ? and block = ?`,
          [
            await seal(`${at}|turns`, JSON.stringify(turns)),
            words && (await seal(`${at}|words`, JSON.stringify(words))),
            workspaceId,
            id,
            number,
          ],
        );
      }
    },
  };
  return opened;
}
