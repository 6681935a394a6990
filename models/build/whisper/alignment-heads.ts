/**
 * Alignment heads: those whose cross-attention follows the words in time, as OpenAI published them per checkpoint (openai/whisper,
 * whisper/__init__.py). Fine-tuned checkpoints keep the heads of their base model and often omit the list.
 */
const PUBLISHED: readonly { name: string; layers: number; heads: number; vocabulary: number; aligned: string }[] = [
  { name: 'tiny.en', layers: 4, heads: 6, vocabulary: 51864, aligned: '1.0 2.0 2.5 3.0 3.1 3.2 3.3 3.4' },
  { name: 'tiny', layers: 4, heads: 6, vocabulary: 51865, aligned: '2.2 3.0 3.2 3.3 3.4 3.5' },
  { name: 'base.en', layers: 6, heads: 8, vocabulary: 51864, aligned: '3.3 4.7 5.1 5.5 5.7' },
  { name: 'base', layers: 6, heads: 8, vocabulary: 51865, aligned: '3.1 4.2 4.3 4.7 5.1 5.2 5.4 5.6' },
  {
    name: 'small.en',
    layers: 12,
    heads: 12,
    vocabulary: 51864,
    aligned: '6.6 7.0 7.3 7.8 8.2 8.5 8.7 9.0 9.4 9.8 9.10 10.0 10.1 10.2 10.3 10.6 10.11 11.2 11.4',
  },
  { name: 'small', layers: 12, heads: 12, vocabulary: 51865, aligned: '5.3 5.9 8.0 8.4 8.7 8.8 9.0 9.7 9.9 10.5' },
  {
    name: 'medium.en',
    layers: 24,
    heads: 16,
    vocabulary: 51864,
    aligned: '11.4 14.1 14.12 14.14 15.4 16.0 16.4 16.9 17.12 17.14 18.7 18.10 18.15 20.0 20.3 20.9 20.14 21.12',
  },
  { name: 'medium', layers: 24, heads: 16, vocabulary: 51865, aligned: '13.15 15.4 15.15 16.1 20.0 23.4' },
  {
    name: 'large-v2',
    layers: 32,
    heads: 20,
    vocabulary: 51865,
    aligned:
      '10.12 13.17 16.11 16.12 16.13 17.15 17.16 18.4 18.11 18.19 19.11 21.2 21.3 22.3 22.9 22.12 23.5 23.7 23.13 25.5 26.1 26.12 27.15',
  },
  { name: 'large-v3', layers: 32, heads: 20, vocabulary: 51866, aligned: '7.0 10.17 12.18 13.12 16.1 17.14 19.11 21.4 24.1 25.6' },
  { name: 'large-v3-turbo', layers: 4, heads: 20, vocabulary: 51866, aligned: '2.4 2.11 3.3 3.6 3.11 3.14' },
];

/** The published heads [layer, head] of a decoder of this size and vocabulary, or null. */
export function publishedHeads(layers: number, heads: number, vocabulary: number): [number, number][] | null {
  const found = PUBLISHED.find((size) => size.layers === layers && size.heads === heads && size.vocabulary === vocabulary);
  return found ? found.aligned.split(' ').map((pair) => pair.split('.').map(Number) as [number, number]) : null;
}

/**
 * Whether heads are those published for decoders of another size or vocabulary, and this size has its own. A decoder of a size that was never
 * published may be a wider or deeper form of the one they are for.
 */
export function isForOtherSize(pairs: readonly number[][], layers: number, heads: number, vocabulary: number): boolean {
  const own = publishedHeads(layers, heads, vocabulary);
  const aligned = pairs.map((pair) => pair.join('.')).join(' ');
  return own !== null && own.map((pair) => pair.join('.')).join(' ') !== aligned && PUBLISHED.some((size) => size.aligned === aligned);
}
