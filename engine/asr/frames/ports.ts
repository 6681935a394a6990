import type { Session } from '../../runtime/session.ts';

/** The names that exporters use for the inputs and outputs of these networks. Shapes: [batch x bins x frames] in, as noted out. */
export const PORTS = {
  signal: ['audio_signal', 'features'],
  length: ['length', 'feature_lengths'],
  /** [batch x frames x tokens] */
  logits: ['logprobs', 'log_probs'],
  /** [batch x width x frames], and frames per row. */
  encoded: ['outputs', 'encoded'],
  encodedLength: ['encoded_lengths', 'encoded_len'],
} as const;

/** The port of a network that has one of the names. Throws if there is none. */
export function portOf(session: Pick<Session, 'inputs' | 'outputs'>, port: keyof typeof PORTS, file: string): string {
  const ports = [...session.inputs, ...session.outputs];
  const wanted: readonly string[] = PORTS[port];
  const found = wanted.find((name) => ports.includes(name));
  if (found) return found;
  throw new Error(`Cannot use ${file}: found the inputs and outputs ${ports.join(', ')}, wanted ${wanted.join(' or ')}`);
}
