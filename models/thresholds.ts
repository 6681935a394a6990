import { z } from 'zod';

/**
 * Thresholds on the probabilities of a Whisper checkpoint, which differ between checkpoints; the rules that use them are in
 * engine/asr/whisper. Log-probabilities are means over tokens.
 */
export const thresholdsSchema = z.object({
  /** A window is decoded once more to decide whether it is a hallucination: below a probability of its language, */
  suspiciousLanguage: z.number(),
  /** above a no-speech probability, */
  suspiciousNoSpeech: z.number(),
  /** or below a log-probability. */
  suspiciousLogProb: z.number(),
  /** Nothing was spoken: log-probability + 0.5 ln(language probability) is below this, */
  minSpeechScore: z.number(),
  /** or the no-speech probability above this. */
  maxNoSpeech: z.number(),
  /** Log-probability of a segment after an overridden choice, below which its text is a guess. */
  guessedLogProb: z.number(),
  /** Log-probability below which a window is decoded again, */
  poorLogProb: z.number(),
  /** and below which a part of a window may be in another language. */
  foreignLogProb: z.number(),
  /** Logistic map from a word's mean token probability to its confidence: of words with confidence 0.8, about 80 % are right. */
  confidence: z.object({ slope: z.number().positive(), intercept: z.number() }),
});
export type Thresholds = z.infer<typeof thresholdsSchema>;

/**
 * Whisper base in 8 bits; other checkpoints use them until they have their own. Hallucinations: 26 windows of noise and 175 real clips, of
 * which none is lost. `foreignLogProb`: a guess from 12 joins of tuning clips; mock words have -0.77 to -1.7, text in the right language
 * -0.05 to -0.6. `confidence`: `bench/accuracy/confidence.ts --fit` on 1,457 words of 36 tuning clips, as recorded and over the telephone band.
 */
export const WHISPER_BASE_THRESHOLDS: Thresholds = {
  suspiciousLanguage: 0.6,
  suspiciousNoSpeech: 0.5,
  suspiciousLogProb: -0.9,
  minSpeechScore: -1.25,
  maxNoSpeech: 0.7,
  guessedLogProb: -1.0,
  poorLogProb: -1.0,
  foreignLogProb: -0.7,
  confidence: { slope: 1.065, intercept: 0.153 },
};
