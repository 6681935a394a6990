import type { ReportTranscript } from './report.ts';

const SELLER = 'Nora Lind';
const CUSTOMER = 'Tom Avery';
const SECONDS_PER_WORD = 0.4;

/** A fictional sales call with content for most templates. */
const TURNS: readonly (readonly [speaker: string, text: string])[] = [
  [SELLER, 'Good morning, this is Nora Lind from Brightwater Pumps. Thank you for taking the time, Tom.'],
  [CUSTOMER, 'Good morning, Nora. I have half an hour. We run four greenhouses, and the old pumps broke down twice this spring.'],
  [SELLER, 'I am sorry to hear that. What did the two breakdowns cost you?'],
  [
    CUSTOMER,
    'About six thousand euros in lost seedlings, and my people carried water by hand for two days. We need something that warns us before it stops.',
  ],
  [
    SELLER,
    'The new series has a sensor on every bearing and sends a message to your phone. A pump costs 1,900 euros, four of them with installation 8,400.',
  ],
  [
    CUSTOMER,
    'That is too expensive for us this year. The budget is 7,000 euros, and anything above that has to be approved by my brother, who owns half of the company.',
  ],
  [
    SELLER,
    'We could start with the two greenhouses that failed. Two pumps with installation are 4,300 euros, and the other two can follow in the autumn.',
  ],
  [CUSTOMER, 'That sounds better. How long does the installation take? We cannot be without water for a whole day in May.'],
  [SELLER, 'Three hours for each pump, and the old one keeps running until the last half hour.'],
  [CUSTOMER, 'Good. What about service? The other supplier, Hallmann, promised to come within 24 hours.'],
  [SELLER, 'We come on the same day if you call before noon. That is part of the contract.'],
  [
    CUSTOMER,
    'All right, then we agreed: two pumps now, and we talk about the other two in September. I will speak with my brother tonight.',
  ],
  [SELLER, 'I will send you the offer by Thursday, with the drawings for both houses. Can you send me the diameter of the pipes?'],
  [CUSTOMER, 'I will measure them this afternoon and write to you. Thank you, Nora, and goodbye.'],
  [SELLER, 'Thank you, Tom. Goodbye.'],
];

/** A short conversation for trying out templates in a workspace without recordings. */
export const SAMPLE: ReportTranscript = sample();

function sample(): ReportTranscript {
  let now = 0;
  const segments = TURNS.map(([speaker, text], index) => {
    const start = now;
    now += text.split(' ').length * SECONDS_PER_WORD;
    return { id: index + 1, start, end: now, speaker, text };
  });
  return { language: 'en', durationSeconds: now, segments };
}
