import { float32, type Session, tensor } from '../../runtime/session.ts';
import type { Joint } from './greedy.ts';

/** Inputs and outputs of `decoder_joint-model.onnx`, the predictor (an LSTM) and the joint in one network, as NeMo exports it. */
export const JOINT = {
  frames: 'encoder_outputs', // [batch x width x frames]
  targets: 'targets', // int32 [batch x tokens]
  targetLength: 'target_length', // int32 [batch]
  states: ['input_states_1', 'input_states_2'], // [layers x batch x width]
  logits: 'outputs', // [batch x frames x tokens x (vocabulary + durations)]
  nextStates: ['output_states_1', 'output_states_2'],
} as const;

/** The two tensors of an LSTM's state. */
export type State = readonly [Float32Array, Float32Array];

/** Whether the network joins several frames at once; some exports accept one only. */
export function joinsSeveral(session: Session): boolean {
  return session.dimensions(JOINT.frames)[2] !== 1;
}

export function openJoint(session: Session): Joint<State> {
  const shapes = JOINT.states.map((name) => {
    const [layers, , width] = session.dimensions(name);
    if (typeof layers === 'number' && typeof width === 'number') return [layers, 1, width];
    throw new Error(`Cannot use the decoder: the size of ${name} is not fixed in the file, so it cannot be started`);
  }) as [number[], number[]];
  const zeros = (shape: number[]) => new Float32Array(shape.reduce((product, size) => product * size));
  return {
    start: [zeros(shapes[0]), zeros(shapes[1])],
    run: async (frames, count, token, [first, second]) => {
      const found = await session.run(
        {
          [JOINT.frames]: float32(frames, [1, frames.length / count, count]),
          [JOINT.targets]: tensor('int32', Int32Array.of(token), [1, 1]),
          [JOINT.targetLength]: tensor('int32', Int32Array.of(1), [1]),
          [JOINT.states[0]]: float32(first, shapes[0]),
          [JOINT.states[1]]: float32(second, shapes[1]),
        },
        { [JOINT.logits]: null, [JOINT.nextStates[0]]: null, [JOINT.nextStates[1]]: null },
      );
      const at = (name: string) => found[name]!.data as Float32Array;
      return { logits: at(JOINT.logits), state: [at(JOINT.nextStates[0]), at(JOINT.nextStates[1])] };
    },
  };
}
