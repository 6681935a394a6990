import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LOOP } from '../../../models/descriptor.ts';
import type { OpenRecogniser } from '../recogniser.ts';
import { Decoder } from './decoding/decode.ts';
import { openLoop, openWhisper } from './model.ts';
import { recognise } from './recognise.ts';
import { openTokenizer } from './tokenizer.ts';

/** Whisper behind the recogniser interface. */
export const openWhisperRecogniser: OpenRecogniser<'whisper'> = async ({ folder, descriptor, device, rows, interleaver }) => {
  const inOneCall = device === 'cuda' && existsSync(join(folder, LOOP)); // float32 models lack it
  const model = await (inOneCall ? openLoop(folder, descriptor, device) : openWhisper(folder, descriptor, { device }));
  const parts = { model, tokenizer: await openTokenizer(folder), decoder: new Decoder(model, rows, interleaver) };
  return {
    device: ('loop' in model ? model.loop : model.encoder).device,
    recognise: (request, check) => recognise(request, parts, check),
    close: () => model.close(),
  };
};
