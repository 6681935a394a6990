import { converse } from './converse.ts';
import { isKnown } from './extractive/cues/index.ts';
import { guess, isInAnother, textOf } from './extractive/guess.ts';
import { say } from './extractive/headings/index.ts';
import type { Figures } from './figures.ts';
import { evidenceOf, ground, groundProse } from './ground.ts';
import { type Line, linesOf } from './lines.ts';
import { Model, type ModelSettings } from './model.ts';
import { ABOUT_TASK, aboutPrompt, type Prompt, reportPrompt, taskOf } from './prompt.ts';
import { provenNames } from './proven-names.ts';
import { condense, type Part, withRoom } from './reduce.ts';
import type { AiLayer, ReportRequest, ReportResult, ReportTranscript, Writer } from './report.ts';
import { ReportError } from './report.ts';
import { ABOUT, REPORT, type Report } from './shapes.ts';

const TITLE = 120; // characters
const TOPICS = 8;
const JUDGED_WORDS = 20; // minimum length of a text for the language check

/** Writes with a language model. Every quotation, time and name is checked against the transcript before it is returned. */
export class GenerativeWriter implements Writer {
  readonly kind = 'model';
  readonly #model: Model;

  constructor(settings: ModelSettings) {
    this.#model = new Model(settings);
  }

  get name(): string {
    return this.#model.name;
  }

  get figures(): Figures {
    return this.#model.figures;
  }

  async write(request: ReportRequest, transcript: ReportTranscript, signal: AbortSignal): Promise<ReportResult> {
    const lines = spoken(transcript);
    const task = taskOf(request);
    const { code, language } = languageOf(transcript);
    const evidence = evidenceOf(transcript);
    const tokens = { input: 0, output: 0 };
    const told = (part: Part): Prompt => reportPrompt(task, part.lines, language, part.condensed);
    const answer = await withRoom(this.#model, signal, async (size) => {
      const part = await condense(this.#model, { lines, task, language, transcript, size, prompt: told, tokens }, signal);
      return this.#inLanguage(request.prompt === null ? code : null, language, (remark) =>
        converse(this.#model, remarked(told(part), remark), REPORT, size.output, tokens, signal),
      );
    });
    const { text, dropped } = answer.value === null ? groundProse(answer.prose, evidence) : ground(answer.value, evidence);
    this.figures.dropped += dropped;
    return { text: text === '' ? say('nothing', isKnown(code) ? code : 'en') : text, dropped, tokens };
  }

  async describe(transcript: ReportTranscript, signal: AbortSignal): Promise<AiLayer> {
    const lines = spoken(transcript);
    const { language } = languageOf(transcript);
    const evidence = evidenceOf(transcript);
    const tokens = { input: 0, output: 0 };
    const told = (part: Part): Prompt => aboutPrompt(part.lines, language, part.condensed);
    const { about, speakers } = await withRoom(this.#model, signal, async (size) => {
      const part = await condense(this.#model, { lines, task: ABOUT_TASK, language, transcript, size, prompt: told, tokens }, signal);
      const { value } = await converse(this.#model, told(part), ABOUT, size.output, tokens, signal);
      return { about: value!, speakers: [...part.speakers, ...value!.speakers] };
    });
    const { text: summary, dropped } = groundProse(about.summary, evidence);
    this.figures.dropped += dropped;
    if (summary === '')
      throw new ReportError('LLM_INVALID_OUTPUT', 'Cannot use the summary: all of its quotations and times were invented');
    return {
      title: bare(about.title).slice(0, TITLE),
      summary,
      topics: [...new Set(about.topics.map((topic) => topic.trim()).filter((topic) => topic !== ''))].slice(0, TOPICS),
      speakerNames: provenNames(speakers, transcript, evidence),
    };
  }

  /**
   * Repeats the request once if the answer is in another language than the conversation. A custom template may ask for another language, so
   * it passes null as `code`.
   */
  async #inLanguage(code: string | null, language: string, ask: (remark: string) => Promise<Answered>): Promise<Answered> {
    const answer = await ask('');
    const text =
      answer.value === null ? answer.prose : answer.value.sections.flatMap(({ items }) => items.map((item) => item.text)).join(' ');
    const isJudged = isKnown(code) && text.split(/\s+/).length >= JUDGED_WORDS;
    return isJudged && isInAnother(text, code) ? ask(`Your last answer was in another language. Write all of it in ${language}.`) : answer;
  }
}

interface Answered {
  value: Report | null;
  prose: string;
}

function spoken(transcript: ReportTranscript): Line[] {
  const lines = linesOf(transcript);
  if (lines.length === 0) throw new ReportError('TRANSCRIPT_EMPTY', 'Cannot write a report: the transcript has no words');
  return lines;
}

function languageOf(transcript: ReportTranscript): { code: string | null; language: string } {
  const code = transcript.language ?? guess(textOf(transcript));
  if (code === null) return { code, language: 'the language of the transcript' };
  return { code, language: new Intl.DisplayNames(['en'], { type: 'language' }).of(code === 'jw' ? 'jv' : code) ?? code };
}

/** A title without surrounding Markdown and quotation marks; quotation marks inside stay. */
function bare(title: string): string {
  const plain = title.replace(/\s+/g, ' ').replace(/^[*#\s]+|(?<![*\s])[*\s]+$/g, '');
  return plain.replace(/^["“«„]([^"“”«»„]*)["”“»]$/, '$1');
}

function remarked({ system, user }: Prompt, remark: string): Prompt {
  return remark === '' ? { system, user } : { system, user: `${user}\n${remark}` };
}
