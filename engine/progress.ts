import type { Run, Stage } from './types.ts';

/** Shares of the whole, in order; recognition and diarization run side by side. */
const BEGIN = { probing: 0, hearing: 0.02, working: 0.14, finishing: 0.98 };
const DIARIZATION = 0.2; // share of the work that diarization is, where it is asked for

/** The progress of one transcription, put together from what its stages report. Never falls. */
export interface Progress {
  stage(stage: Stage): void;
  /** Share of the recording in which speech was looked for. */
  heard(fraction: number): void;
  recognised(fraction: number): void;
  diarized(fraction: number): void;
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
  };
}
