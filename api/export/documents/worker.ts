import type { DocumentFormat } from '../../contract/formats.ts';
import type { Content } from './blocks.ts';

/** Runs on a worker thread: ten hours of speech take seconds. */
export async function make({ content, format }: { content: Content; format: DocumentFormat }): Promise<Uint8Array> {
  const writer = format === 'pdf' ? (await import('./pdf.ts')).pdf : (await import('./docx.ts')).docx;
  return writer(content);
}
