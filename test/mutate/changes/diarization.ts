import type { Change } from './change.ts';

const INTERJECTIONS = ['test/engine/diarization/interjections.test.ts'];
const LIMITS = ['test/engine/diarization/limits.test.ts'];

/** Thresholds of diarization, and the number of speakers that is known. */
export const DIARIZATION: Change[] = [
  ['engine/diarization/tracks.ts', 'highest = Math.max(highest,', 'highest = Math.min(highest,'],
  [
    'engine/diarization/campplus.ts',
    'SMALL_CLUSTER_BONUS = 0.08',
    'SMALL_CLUSTER_BONUS = 0.04',
    ['test/engine/diarization/clustering.test.ts'],
  ],
  ['engine/diarization/clustering.ts', 'speakers: speakers ?? undefined, minWeight', 'minWeight', LIMITS],
  ['engine/diarization/clustering.ts', ' && separations(pairs, clusterOf, from, into) < SEPARATED_PAIRS', ''],
  ['engine/diarization/clustering.ts', 'sum += joined ? -1 : 1', 'sum += joined ? 0 : 1'],
  ['engine/diarization/clustering.ts', 'const BLOCK_VECTORS = 1200;', 'const BLOCK_VECTORS = 4800;'],
  ['engine/diarization/clustering.ts', 'const MAX_CLUSTERED = 1800;', 'const MAX_CLUSTERED = 7200;'],
  ['engine/diarization/clustering.ts', 'const MAX_SPEAKERS = 100;', 'const MAX_SPEAKERS = 400;', LIMITS],
  ['engine/diarization/excerpts.ts', 'const MAX_GAP_FRAMES = 5;', 'const MAX_GAP_FRAMES = 20;', LIMITS],
  ['engine/diarization/halves.ts', 'const MIN_GAIN = 0.1;', 'const MIN_GAIN = 0;'],
  ['engine/diarization/halves.ts', 'const MIN_HIDDEN_FRAMES = 40;', 'const MIN_HIDDEN_FRAMES = 20;'],
  ['engine/diarization/excerpts.ts', 'const MIN_OVERLAPPED_FRAMES = 12;', 'const MIN_OVERLAPPED_FRAMES = 60;', INTERJECTIONS],
  ['engine/diarization/excerpts.ts', 'alone.length < MIN_EXCERPT_FRAMES && run', 'run', INTERJECTIONS],
  ['engine/diarization/diarize.ts', 'all.filter((i) => !excerpts[i]!.overlapped)', 'all', INTERJECTIONS],
  ['engine/diarization/interjections.ts', 'const MIN_DIP = 10;', 'const MIN_DIP = 5;'],
  ['engine/diarization/interjections.ts', 'const DOUBT_PROBABILITY = 0.9;', 'const DOUBT_PROBABILITY = 0.99;'],
  ['engine/diarization/interjections.ts', 'most >= threshold && ', ''],
  ['engine/diarization/interjections.ts', ' && gap <= ADJACENT_FRAMES', ' && false'],
  ['engine/diarization/campplus.ts', 'INTERJECTION_MARGIN = 0.1;', 'INTERJECTION_MARGIN = 0.05;', INTERJECTIONS],
  ['engine/diarization/label.ts', 'const COMPARED_EXCERPTS = 12;', 'const COMPARED_EXCERPTS = 3;'],
  ['engine/diarization/label.ts', 'const CONTEXT_FRAMES = 240;', 'const CONTEXT_FRAMES = 960;'],
  ['engine/diarization/label.ts', 'const MAX_GAP_FRAMES = 30;', 'const MAX_GAP_FRAMES = 10;'],
  ['engine/diarization/label.ts', 'const MIN_OVERLAP_FRAMES = 6;', 'const MIN_OVERLAP_FRAMES = 24;'],
  ['engine/diarization/label.ts', 'const SEARCH_FRAMES = 18;', 'const SEARCH_FRAMES = 72;'],
  ['engine/diarization/linkage.ts', 'const NO_PAIR = -9;', 'const NO_PAIR = 0;'],
  ['engine/diarization/linkage.ts', 'const REMOVED = -8;', 'const REMOVED = 0;'],
  ['engine/diarization/snap-turns.ts', 'const MARGIN_STEPS = 4;', 'const MARGIN_STEPS = 16;'],
  ['engine/diarization/snap-turns.ts', 'const MAX_BELOW_LOUD = 35;', 'const MAX_BELOW_LOUD = 140;', LIMITS],
  ['engine/diarization/snap-turns.ts', 'const QUIET_SHARE = 0.2;', 'const QUIET_SHARE = 0.05;'],
  ['engine/diarization/snap-turns.ts', 'const MAX_PAUSE_STEPS = 33;', 'const MAX_PAUSE_STEPS = 132;'],
  ['engine/diarization/snap-turns.ts', 'const MIN_SOUND_STEPS = 3;', 'const MIN_SOUND_STEPS = 12;'],
  ['engine/diarization/snap-turns.ts', 'const MIN_TURN_STEPS = 10;', 'const MIN_TURN_STEPS = 40;'],
  ['engine/diarization/undecided.ts', 'const MAX_SHARE = 0.6;', 'const MAX_SHARE = 0.5;'],
  ['engine/diarization/undecided.ts', 'const MIN_RUN_FRAMES = 18;', 'const MIN_RUN_FRAMES = 9;'],
  ['engine/diarization/undecided.ts', 'const MIN_UNASSIGNED = 0.5;', 'const MIN_UNASSIGNED = 0;'],
];
