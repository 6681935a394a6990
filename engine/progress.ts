import type { Run, Stage } from './types.ts';

/** Fraction of the whole at which each stage begins, in order; recognition and diarization run in parallel. */
const BEGIN = { probing: 0, hearing: 0.02, working: 0.14, finishing: 0.98 };
const DIARIZATION = 0.2; // share of the work that diarization takes, if requested

/** Combines the progress of a transcription's stages. Never decreases. */
export interface Progress {
  stage(stage: Stage): void;
  /** Fraction of the recording that VAD has processed. */
  heard(fraction: number): void;
  recognised(fraction: number): void;
  diarized(fraction: number): void;
  /** Reports a finished unit of work whose share is unknown: the fraction stays. */
  alive(): void;
}

export function progressOf(run: Run, diarize: boolean): Progress {
  let stage: Stage = 'probing';
  let highest = 0;
  const done = { recognised: 0, diarized: diarize ? 0 : 1 };
  const report = (fraction: number) => {
    highest = Math.max(highest, Math.min(1, fraction));
    run.progress(stage, highest);
  };
  const work = () => {
    if (done.recognised >= 1 && done.diarized < 1) stage = 'diarizing';
    const share = diarize ? DIARIZATION : 0;
    report(BEGIN.working + (BEGIN.finishing - BEGIN.working) * ((1 - share) * done.recognised + share * done.diarized));
  };
  return {
    stage(next) {
      stage = next;
      report(next === 'finishing' ? BEGIN.finishing : highest);
    },
    heard: (fraction) => report(BEGIN.hearing + (BEGIN.working - BEGIN.hearing) * fraction),
    recognised(fraction) {
      done.recognised = fraction;
      work();
    },
    diarized(fraction) {
      done.diarized = fraction;
      work();
    },
    alive: () => report(highest),
  };
}
