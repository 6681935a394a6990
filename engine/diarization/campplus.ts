/*
 * What holds for CAM++, the speaker embedding model, and was measured with it. Another model needs a file like this one. Similarities are cosines of unit vectors.
 */
export const EMBEDDING_SIZE = 192;
export const ROW_SAMPLES = 160; // from one row of features to the next
export const LAST_ROW_SAMPLES = 240; // of the last row, beyond its shift
export const BUCKET_ROWS = 25; // excerpts of equal length to 0.25 s share a shape
export const MIN_ROWS = 20;
export const EXCERPTS_PER_BATCH = 2; // with more, what lies between two layers leaves the processor's cache

/** Shorter excerpts found no cluster, they only join one (equal error rate at 0.6 s 14 %, 1 s 4.5 %, 2 s 0.6 %). */
export const MIN_RELIABLE_SECONDS = 1;
export const MAX_EXCERPT_SECONDS = 4; // of speech; what is bridged comes on top
export const MIN_EXCERPT_FRAMES = 6;

/** Mean similarity from which on two clusters are one speaker, on wide-band sound; the distance 0.47 found most counts right. */
export const DEFAULT_THRESHOLD = 0.53;
/** How far above the similarity of different speakers it lies: that is 0.34 on clean and noisy sound, 0.40 up to 4 kHz, 0.48 in the telephone band. */
export const THRESHOLD_MARGIN = 0.175;
export const MIN_THRESHOLD = 0.5;
export const MAX_THRESHOLD = 0.6;
export const DEFAULT_THRESHOLD_WEIGHT = 5; // pairs of different speakers that it counts as much as
export const MIN_COMPARED_SECONDS = 1.5; // of an excerpt of such a pair

export const MIN_SPEAKER_SECONDS = 3; // of speech …
export const MIN_SPEAKER_SHARE = 0.06; // … or this share of all speech, in short recordings
export const FIRST_BLOCK_THRESHOLD = 0.7; // similarity of the pairs that are merged first, block by block …
export const BLOCK_THRESHOLD_STEP = 0.06; // … and how much lower each round
/** A cluster of less than this, or of this share of all speech, is often a stray part of another one: it joins that at a similarity lower by the bonus … */
export const SMALL_CLUSTER_SECONDS = 8;
export const SMALL_CLUSTER_SHARE = 0.12;
export const SMALL_CLUSTER_BONUS = 0.04;
export const BONUS_END = 2.5; // … which falls to nothing for a cluster so many times as large

export const AMBIGUOUS_MARGIN = 0.2; // an excerpt that is no more than this more similar to its speaker than to another may hold both, …
export const MIN_SPLIT_SECONDS = 2; // … if it lasts as long
export const SUBWINDOW_FRAMES = 60; // of the segmentation: a second, whose embedding tells the speaker …
export const SUBWINDOW_STEP_FRAMES = 30; // … every half second at least
export const CHANGE_PENALTY = 0.1; // similarity that a change of speaker must be worth: embeddings of a second are unreliable

export const CONTEXT_SECONDS = 1; // of a shorter excerpt, what the segmentation says counts as well …
export const CONTEXT_WEIGHT = 0.15; // … as this much similarity, for an excerpt without length
