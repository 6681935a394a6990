import type { AnyWhisper } from '../model.ts';
import type { Batch } from './batch.ts';
import { LoopBatch } from './loop-batch.ts';
import { StepBatch } from './step-batch.ts';

/** The batch for the graphs of a model. */
export function openBatch(model: AnyWhisper, capacity: number): Batch {
  return 'loop' in model ? new LoopBatch(model, capacity) : new StepBatch(model, capacity);
}
