import type { AiLayer, ReportRequest, ReportResult, ReportTranscript, Writer } from './report.ts';
import { ReportError } from './report.ts';

/** The built-in writer: words of the transcript itself, chosen without a language model. Deterministic and offline. */
export class ExtractiveWriter implements Writer {
  readonly kind = 'extractive';
  readonly name = 'built-in';

  async write(_request: ReportRequest, transcript: ReportTranscript, _signal: AbortSignal): Promise<ReportResult> {
    return { text: spoken(transcript).slice(0, 1000), dropped: 0 };
  }

  async describe(transcript: ReportTranscript, _signal: AbortSignal): Promise<AiLayer> {
    const text = spoken(transcript);
    return { title: text.slice(0, 80), summary: text.slice(0, 500), topics: [], speakerNames: [] };
  }
}

function spoken(transcript: ReportTranscript): string {
  const text = transcript.segments.map((segment) => segment.text.trim()).join(' ');
  if (text.trim() === '') throw new ReportError('TRANSCRIPT_EMPTY', 'Cannot write a report: the transcript has no words');
  return text;
}
