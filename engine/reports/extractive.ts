import { builtin } from '../../api/contract/catalogue.ts';
import { describe } from './extractive/describe.ts';
import { say } from './extractive/headings/index.ts';
import { LAYOUTS, type Layout, type Section } from './extractive/layouts.ts';
import { line } from './extractive/lines.ts';
import { points } from './extractive/points.ts';
import { closest } from './extractive/query.ts';
import { linesOf } from './extractive/sections.ts';
import type { Sentence } from './extractive/sentences.ts';
import { type Talk, talkOf } from './extractive/talk.ts';
import { newFigures } from './figures.ts';
import type { AiLayer, ReportRequest, ReportResult, ReportTranscript, Writer } from './report.ts';
import { ReportError } from './report.ts';

const PASSAGES = 10; // number shown for a custom template
const SIDES = new Set<Section['kind']>(['participants', 'text']); // sections without content of the conversation

/** The extractive writer: sentences of the transcript itself, selected without a language model. Deterministic and offline. */
export class ExtractiveWriter implements Writer {
  readonly kind = 'extractive';
  readonly name = 'built-in';
  readonly figures = newFigures(); // makes no calls and quotes nothing but the transcript

  async write(request: ReportRequest, transcript: ReportTranscript, signal: AbortSignal): Promise<ReportResult> {
    const talk = listen(transcript, signal);
    if (request.prompt !== null) return { text: custom(talk, request.prompt), dropped: 0 };
    const layout = LAYOUTS[request.slug];
    if (layout === undefined || builtin(request.slug) === undefined) {
      throw new ReportError(
        'TEMPLATE_UNAVAILABLE',
        `Cannot write the report: there is no built-in template '${request.slug}' and no prompt was given`,
      );
    }
    return { text: fill(talk, layout), dropped: 0 };
  }

  async describe(transcript: ReportTranscript, signal: AbortSignal): Promise<AiLayer> {
    return describe(listen(transcript, signal));
  }
}

function listen(transcript: ReportTranscript, signal: AbortSignal): Talk {
  signal.throwIfAborted();
  const talk = talkOf(transcript);
  if (talk.sentences.length === 0) throw new ReportError('TRANSCRIPT_EMPTY', 'Cannot write a report: the transcript has no words');
  return talk;
}

function fill(talk: Talk, layout: Layout): string {
  const known = layout.sections.filter((section) => talk.language !== null || !needsPhrases(section));
  const unknown = layout.sections.filter((section) => !known.includes(section)) as { heading: Parameters<typeof say>[0] }[];
  const shown = new Set<Sentence>();
  const filled = known.map((section) => ({ section, lines: linesOf(talk, section, shown) }));
  const blocks = [
    `_${say(layout.note, talk.code)}_`,
    ...filled.flatMap(({ section, lines }) => (lines ? [block(talk, section, lines)] : [])),
  ];
  if (unknown.length > 0)
    blocks.push(`${say('unknownLanguage', talk.code)} ${unknown.map(({ heading }) => say(heading, talk.code)).join(', ')}.`);
  if (filled.every(({ section, lines }) => SIDES.has(section.kind) || lines === null || lines.length === 0)) blocks.push(mainPoints(talk));
  return blocks.join('\n\n');
}

function needsPhrases(section: Section): boolean {
  return section.kind === 'cues' || section.kind === 'perSpeaker' || section.kind === 'checklist';
}

function block(talk: Talk, section: Section, lines: readonly string[]): string {
  if (section.kind === 'text') return lines.join('\n');
  return `**${say(section.heading, talk.code)}**\n\n${(lines.length > 0 ? lines : [say('nothing', talk.code)]).join('\n')}`;
}

function mainPoints(talk: Talk): string {
  return `**${say('mainPoints', talk.code)}**\n\n${points(talk).map(line).join('\n')}`;
}

/**
 * A custom template is an instruction that only a language model can follow: states this and gives the passages closest to its words and
 * the main points.
 */
function custom(talk: Talk, prompt: string): string {
  const passages = closest(talk, prompt, PASSAGES).map(line);
  const found = passages.length > 0 ? [`**${say('passages', talk.code)}**\n\n${passages.join('\n')}`] : [];
  return [`_${say('needsModel', talk.code)}_`, ...found, mainPoints(talk)].join('\n\n');
}
