/*
 * Thresholds of recognition, measured on Whisper base in 8 bits (docs/decisions/speech-recognition.md); all checkpoints use them.
 * Those that depend on a checkpoint's probabilities are in its descriptor (models/thresholds.ts).
 * Log-probabilities are means over tokens. Seconds are seconds of detected speech, unless noted otherwise.
 */

/* Hallucinations. A suspicious window is decoded once more to decide. */
export const CLEAR_SPEECH_PROBABILITY = 0.96; // peak of the speech probability; suspicious below

/* Retries. */
export const MAX_COMPRESSION_RATIO = 2.4; // characters per compressed byte; above it text repeats itself
export const LOOP_REPETITIONS = 4; // of the same tokens that count as a loop
export const SEGMENT_REPETITIONS = 8; // of a text in consecutive segments, in a row from which a loop was cut off; a guess from one synthetic voice
export const BEAM_SIZE = 3; // five beams cost 67 % more and found nothing more in 42 windows of joined speech
export const DENSE_TOKENS_PER_SECOND = 8; // from here on text is written in letters or bytes, whose tokens are all improbable
export const MAX_PLAUSIBLE_LOOPS = 2; // removed from a row whose text may still be correct
export const TOKEN_BUDGET = 450; // tokens decoded per window before its text is accepted as it is,
export const TOKEN_BUDGET_PER_SECOND = 30; // plus this many per second
export const MAX_RETRY_DEPTH = 3; // spans within spans of a window
export const RETRY_PART_SECONDS = 8; // longest part of a window that was cut off by a loop: what loops in 30 s seldom does in 8 s
export const SHORTEST_PART_SECONDS = 4; // of a span that is divided further if it loops as a whole
export const TARGET_ROW_SHARE = 0.7; // of a row's tokens to use for a span, estimated from the previous decoding of the window
export const SAME_SPAN_SHARE = 0.9; // a span with this share of a window's speech would be decoded the same way again
export const MAX_PROMPT_TOKENS = 160; // of the vocabulary

/* Terms of the vocabulary that were likely and not chosen: the window is decoded once more by a beam search that prefers them, and if
   the vocabulary is short with these terms as a prompt. */
export const VOCABULARY_LOG_PROB = -7; // of a token; below it a term is not likely
export const VOCABULARY_BONUS = 1.5; // per token of a term, in the unit of log-probabilities
export const MAX_PROMPTED_TERMS = 12; // in the vocabulary; of 50 unrelated names a prompt put three into four difficult clips
export const MAX_LOST_WORDS = 3; // per term, of the text without it,
export const MAX_LOST_SHARE = 0.2; // plus this share of its words

/* Languages of single windows, where the language of the recording is known. */
export const OTHER_LANGUAGE_PROBABILITY = 0.5; // from here on a window is decoded in both languages
export const OTHER_LANGUAGE_SECONDS = 2; // if it has this much speech

/* Languages that change within a window, whose text is then in one of them. A guess from 12 joins of tuning clips. */
export const MIN_PART_SECONDS = 2; // shorter speech does not tell its language
export const SECOND_LANGUAGE_PROBABILITY = 0.1; // from here on the language of the window is in doubt
export const CLEAR_LANGUAGE_PROBABILITY = 0.9; // from here on a part is in this language, however improbable its text

/* Coverage: speech without text. In 45 windows of tuning clips at least 44 % of the 0.1 s steps are certain; in 9 windows of
   synthetic instruments, a siren, humming and laughter that speech detection takes for speech at most 1 % (bench/accuracy/certainty.ts). */
export const CERTAIN_SPEECH_PROBABILITY = 0.98; // in a step of 0.1 s
export const MIN_CERTAIN_SHARE = 0.3; // of such steps, from which on speech is certain
export const MIN_MISSING_SECONDS = 1; // speech without words that is decoded again
export const MAX_UNCOVERED_TAIL_SECONDS = 0.5; // end-of-text is accepted up to here
export const MAX_SKIPPED_SECONDS = 0.6; // speech that a new segment may skip
export const MAX_OVERRIDES = 4; // corrections of the model's choices per decoding, plus one for each loop removed
export const ATTENDING_TOKENS = 5; // latest tokens, whose attention shows how far a decoding has got
export const MIN_PROGRESS_SECONDS = 1.5; // that a truncated decoding must cover to be reliable
export const MIN_CERTAIN_SECONDS = 1; // of certain speech in a segment whose text is kept however improbable it is,
export const MIN_CERTAIN_SECONDS_AFTER_LOOP = 0.3; // and in a row from which a loop was removed

/* Omissions: sentences skipped inside a segment. Of 234 long segments of clean speech the slowest had 1.8 tokens per second; of 2,958 spans
   the slowest complete one had 8 bytes per second, those with a missing sentence 4. Letters instead of bytes: in the tuning clips the slowest
   complete words of over 1.2 s have 6.3; no clip is in an Indic, Cyrillic or Arabic script. */
export const SPARSE_TOKENS_PER_SECOND = 1.6; // below it a sentence is missing from a segment
export const SPARSE_MIN_SECONDS = 8; // shortest segment to judge
export const STRETCHED_LETTERS_PER_SECOND = 4; // below it words are missing beside a word
export const STRETCHED_MIN_SECONDS = 1; // shortest word to judge by its letters: an hour of joined clips had three "and" of a second,
// and the one word beside a skipped question
export const LONGEST_WORD_SECONDS = 1.2; // a longer word does not show that all speech under it was heard
export const STRETCHED_MAX_SPAN_SECONDS = 8; // longest span of speech that is decoded again as a whole
export const MIN_WORD_GAIN = 1.3; // factor in the number of words from which on something was missing

/* Loops inside a row. */
export const LOOP_CHECK_INTERVAL = 8; // tokens between checks,
export const LOOP_CHECK_TOKENS = 64; // each of this many tokens
export const MAX_LOOP_CUTS = 16; // per row
export const MIN_LOOP_SEGMENT_SECONDS = 0.4; // of the window: length of a segment whose loop was cut off,
export const LOOP_SECONDS_PER_TOKEN = 0.25; // and its maximum growth per token: repeated text says little about its end

/* Echoes: a sentence written twice although it was said once. */
export const MIN_ECHO_WORDS = 4; // shorter repetitions may be emphasis
export const MAX_JOINING_WORDS = 2; // between both copies, such as "and"
export const MIN_SECONDS_PER_LETTER = 0.013; // 0.06 per word: over several words no speech is faster; in some scripts every character is a "word"
